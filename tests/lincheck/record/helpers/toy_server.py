"""A register as a TCP server, one line a request, right or wrong as its arguments say.

    python toy_server.py PORT [--file FILE] [--cache READS] [--refuse WRITES]

`--file`: writes are on disk before they are answered, and there after a restart. `--cache N`: a connection reads from
a cache, which every N-th read renews. `--refuse N`: every N-th write is refused.
"""

import argparse
import os
import socketserver
import threading
from pathlib import Path


class Register:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.writes = 0
        self.value = "null"
        if options.file and options.file.exists():
            self.value = options.file.read_text().split("\n")[-2]

    def write(self, value):
        with self.lock:
            self.writes += 1
            if self.options.refuse and self.writes % self.options.refuse == 0:
                return "refused"
            if self.options.file:
                with self.options.file.open("a") as file:
                    file.write(f"{value}\n")
                    file.flush()
                    os.fsync(file.fileno())
            self.value = value
            return "ok"


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        register = self.server.register
        reads, cached = 0, register.value
        for line in self.rfile:
            word, *rest = line.decode().split()
            if word == "write":
                answer = register.write(rest[0])
            else:
                reads += 1
                if not register.options.cache or reads % register.options.cache == 0:
                    cached = register.value
                answer = cached
            self.wfile.write(f"{answer}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--cache", type=int, default=0)
    parser.add_argument("--refuse", type=int, default=0)
    options = parser.parse_args()
    with Server(("127.0.0.1", options.port), Connection) as server:
        server.register = Register(options)
        server.serve_forever()


if __name__ == "__main__":
    main()
