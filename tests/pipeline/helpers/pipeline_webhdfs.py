"""A small WebHDFS server over a folder: a file system that no path of Python reaches.

It answers the requests that Hadoop's client makes to read, list, write, rename and delete; no user, no rights, no
blocks. A file appears when its upload is complete.
"""

import json
import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet: in two, the second waits 40 ms until the client has confirmed the first

    def log_message(self, *_):
        """Say nothing."""

    def _look(self):
        address = urlsplit(self.path.encode("latin-1").decode())  # Hadoop's client sends letters as they are
        asked = {name.lower(): values[0] for name, values in parse_qs(address.query).items()}
        name = unquote(address.path).removeprefix("/webhdfs/v1")
        return name, self.server.folder / name.lstrip("/"), asked

    def _send(self, code, content=b"", **headers):
        """Answer without a Content-Type: the client in PySpark's wheel lacks a class to parse one."""
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def _missing(self, name):
        self._refuse(404, "java.io", "FileNotFoundException", f"File does not exist: {name}")

    def _elsewhere(self):
        port = self.server.server_address[1]
        path = quote(self.path.encode("latin-1"), safe="/?&=%:+")
        self._send(307, b"", Location=f"http://127.0.0.1:{port}{path}&data=true")

    def do_GET(self):
        name, path, asked = self._look()
        op = asked["op"].upper()
        self.server.requests.append((op, name))
        if op == "GETHOMEDIRECTORY":
            self._send(200, {"Path": "/user/test"})
        elif not path.exists():
            self._missing(name)
        elif op == "GETFILESTATUS":
            self._send(200, {"FileStatus": _status(path, "")})
        elif op == "LISTSTATUS":
            found = [_status(path, "")] if path.is_file() else [_status(each, each.name) for each in _list(path)]
            self._send(200, {"FileStatuses": {"FileStatus": found}})
        elif op == "OPEN" and "data" not in asked:
            self._elsewhere()
        elif op == "OPEN":
            begin = int(asked.get("offset", 0))
            content = path.read_bytes()[begin:]
            if "length" in asked:
                content = content[: int(asked["length"])]
            self._send(200, content)
        elif op == "GETCONTENTSUMMARY":
            files = [each for each in path.rglob("*") if each.is_file()]
            size = sum(each.stat().st_size for each in files)
            summary = {"directoryCount": 1, "fileCount": len(files), "length": size, "quota": -1}
            self._send(200, {"ContentSummary": summary | {"spaceConsumed": size, "spaceQuota": -1}})
        elif op in ("GETFILEBLOCKLOCATIONS", "GET_BLOCK_LOCATIONS"):
            block = {
                "cachedHosts": [], "corrupt": False, "hosts": ["127.0.0.1"], "length": path.stat().st_size,
                "names": ["127.0.0.1:1"], "offset": 0, "storageTypes": ["DISK"], "topologyPaths": ["/x/127.0.0.1:1"],
            }  # fmt: skip
            self._send(200, {"BlockLocations": {"BlockLocation": [block]}})
        else:
            self._unknown(op)

    def do_PUT(self):
        name, path, asked = self._look()
        op = asked["op"].upper()
        self.server.requests.append((op, name))
        if not self.server.allows(op, name):
            self.close_connection = True
        elif op == "CREATE" and "data" not in asked:
            self._body()
            self._elsewhere()
        elif op == "CREATE":
            content = self._body()
            with self.server.lock:
                there = path.exists() and asked.get("overwrite") == "false"
                if not there:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
            if there:
                self._refuse(403, "org.apache.hadoop.fs", "FileAlreadyExistsException", f"{name} already exists")
            else:
                self._send(201)
        elif op == "MKDIRS":
            self._body()
            path.mkdir(parents=True, exist_ok=True)
            self._send(200, {"boolean": True})
        elif op == "RENAME":
            self._body()
            self._send(200, {"boolean": self._rename(path, self.server.folder / asked["destination"].lstrip("/"))})
        elif op in ("SETPERMISSION", "SETTIMES", "SETOWNER", "SETREPLICATION"):
            self._body()
            self._send(200, {"boolean": True})
        else:
            self._unknown(op)

    def do_DELETE(self):
        name, path, asked = self._look()
        self.server.requests.append((asked["op"].upper(), name))
        if not self.server.allows("DELETE", name):
            self.close_connection = True
            return
        there = path.exists()
        with self.server.lock:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        self._send(200, {"boolean": there})

    def _rename(self, path, target):
        with self.server.lock:
            if target.is_dir():
                target /= path.name
            if not path.exists() or target.exists() or not target.parent.is_dir():
                return False
            path.rename(target)
            return True

    def _body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def _unknown(self, op):
        self._refuse(400, "java.lang", "UnsupportedOperationException", f"no operation {op} here")

    def _refuse(self, code, package, name, message):
        error = {"exception": name, "javaClassName": f"{package}.{name}", "message": message}
        self._send(code, {"RemoteException": error})


def _list(path):
    return sorted(path.iterdir()) if path.is_dir() else []


def _status(path, name):
    stat = path.stat()
    folder = path.is_dir()
    return {
        "accessTime": int(stat.st_atime * 1000), "blockSize": 1 << 27, "childrenNum": len(_list(path)),
        "fileId": stat.st_ino, "group": "test", "length": 0 if folder else stat.st_size,
        "modificationTime": int(stat.st_mtime * 1000), "owner": "test", "pathSuffix": name,
        "permission": "755", "replication": 1, "storagePolicy": 0, "type": "DIRECTORY" if folder else "FILE",
    }  # fmt: skip


@contextmanager
def webhdfs(folder, allows=lambda op, name: True):
    """Serve a folder; yield the URI of its root, and the list of requests.

    A request that would change something is asked about first, and gets no answer if it is not allowed.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.folder, server.lock, server.requests = Path(folder), threading.Lock(), []
    server.allows = allows
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"webhdfs://127.0.0.1:{server.server_address[1]}", server.requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
