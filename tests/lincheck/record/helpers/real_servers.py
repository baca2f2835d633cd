"""Real servers on the loopback, started by the tests, and as much of their protocols as a register and a lock need."""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from latchfree_lincheck.record import Proxy, Server, free_port, hold, together

PATIENCE = 60  # seconds


def program(name, package, *folders):
    """The path of a program; the test is skipped where the package is not installed."""
    found = shutil.which(name, path=os.pathsep.join([*folders, os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install {package}")
    return found


# Redis ---------------------------------------------------------------------------------------------------------------


class Redis:
    """A connection to a Redis server: a register, and a lock that expires."""

    KEY = "x"
    RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

    def __init__(self, port, token="", patience=PATIENCE, expires=300):
        self.socket = socket.create_connection(("127.0.0.1", port), patience)
        self.file = self.socket.makefile("rb")
        self.token, self.expires = token, expires

    def ask(self, *words):
        encoded = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))
        return self.answer()

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionResetError("the server is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise OSError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode()
        return int(rest) if kind == b":" else rest.decode()

    def write(self, value):
        self.ask("SET", self.KEY, value)

    def read(self):
        value = self.ask("GET", self.KEY)
        return None if value is None else int(value)

    def try_acquire(self):
        return self.ask("SET", "lock", self.token, "NX", "PX", self.expires) == "OK"

    def release(self):
        self.ask("EVAL", self.RELEASE, 1, "lock", self.token)

    def close(self):
        self.file.close()
        self.socket.close()


def redis(*options, ready="PONG"):
    """A Redis server that is ready when the answer to PING, or a line of INFO, is there."""
    port = free_port()
    found = program("redis-server", "redis-server")

    def answers():
        client = Redis(port)
        try:
            if ready != "PONG" and ready not in client.ask("INFO"):
                raise OSError(f"no {ready} yet")
            client.ask("PING")
        finally:
            client.close()

    command = [found, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", "{folder}", *options]
    return Server(list(map(str, command)), name="redis", ready=answers), port


@contextmanager
def replicated_redis():
    """A primary, the proxy through which its replica follows, and the replica: their ports, and the proxy."""
    primary, port = redis("--repl-diskless-sync-delay", 0)
    with primary, Proxy(port, name="replication") as proxy:
        replica, other = redis("--replicaof", f"127.0.0.1 {proxy.port}", ready="master_link_status:up")
        with replica:
            yield port, other, proxy


# etcd ----------------------------------------------------------------------------------------------------------------


class Etcd:
    """A connection to a member of etcd through its JSON gateway: a register with compare-and-set."""

    def __init__(self, port, *, serializable=False, patience=PATIENCE):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
        self.connection.connect()
        self.serializable = serializable

    def ask(self, path, **body):
        self.connection.request("POST", f"/v3/{path}", json.dumps(body))
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise OSError(content.decode())
        return json.loads(content)

    def write(self, value):
        self.ask("kv/put", key=b64("x"), value=b64(value))

    def read(self):
        found = self.ask("kv/range", key=b64("x"), serializable=self.serializable).get("kvs")
        return int(base64.b64decode(found[0]["value"])) if found else None

    def cas(self, old, new):
        same = {"key": b64("x"), "target": "VALUE", "result": "EQUAL", "value": b64(old)}
        put = {"requestPut": {"key": b64("x"), "value": b64(new)}}
        return self.ask("kv/txn", compare=[same], success=[put]).get("succeeded", False)

    def close(self):
        self.connection.close()


def b64(text):
    return base64.b64encode(str(text).encode()).decode()


class Member:
    """One member of etcd: its server, its ports, and the proxy through which others reach it."""

    def __init__(self, number):
        self.name = f"m{number}"
        self.port, self.peer = free_port(), free_port()
        self.proxy = Proxy(self.peer, name=f"peers of {self.name}")
        self.url = f"http://127.0.0.1:{self.proxy.port}"

    def server(self, members, state):
        client = f"http://127.0.0.1:{self.port}"
        options = {
            "name": self.name, "data-dir": "{folder}/data", "log-level": "error", "logger": "zap",
            "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": f"http://127.0.0.1:{self.peer}", "initial-advertise-peer-urls": self.url,
            "initial-cluster": ",".join(f"{each.name}={each.url}" for each in members),
            "initial-cluster-state": state, "initial-cluster-token": str(members[0].port),
        }  # fmt: skip
        command = [program("etcd", "etcd-server"), *(f"--{name}={value}" for name, value in options.items())]
        return Server(command, name=f"etcd {self.name}")

    def wait(self, *, serializable=False):
        """Wait until the member answers a read."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                client = Etcd(self.port, serializable=serializable)
                try:
                    return client.read()
                finally:
                    client.close()
            except OSError:
                assert time.monotonic() < deadline, f"{self.name} does not answer"
                time.sleep(0.05)


@contextmanager
def etcd_cluster(size=3):
    """A cluster of etcd: its members and their servers."""
    program("etcd", "etcd-server")
    with ExitStack() as everything:
        members = [Member(number) for number in range(size)]
        for member in members:
            everything.enter_context(member.proxy)
        servers = [everything.enter_context(member.server(members, "new")) for member in members]
        for member in members:
            member.wait()
        yield members, servers


@contextmanager
def etcd_with_learner():
    """A voter, which commits alone, a learner, which follows, and the fault that keeps the learner behind."""
    with etcd_cluster(1) as ((voter,), _):
        learner = Member(1)
        client = Etcd(voter.port)
        client.ask("cluster/member/add", peerURLs=[learner.url], isLearner=True)
        client.close()
        with learner.proxy, learner.server([voter, learner], "existing"):
            learner.wait(serializable=True)
            yield voter, learner, together(hold(voter.proxy), hold(learner.proxy))


# PostgreSQL ----------------------------------------------------------------------------------------------------------


class Aborted(Exception):
    """The transaction was rolled back: a definite error."""


class Postgres:
    """A connection to PostgreSQL: a register with compare-and-set, and a counter that reads before it writes."""

    def __init__(self, port, level="SERIALIZABLE", patience=PATIENCE):
        self.level = level
        self.socket = socket.create_connection(("127.0.0.1", port), patience)
        self.file = self.socket.makefile("rb")
        start = struct.pack("!i", 196608) + b"user\0tester\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(start) + 4) + start)
        try:
            self.answer()
        except BaseException:  # it is starting up, for one
            self.close()
            raise

    def ask(self, query):
        content = query.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(content) + 4) + content)
        return self.answer()

    def answer(self):
        """The first column of the rows of an answer."""
        values, error = [], None
        while True:
            head = self.file.read(5)
            if len(head) < 5:
                raise error or ConnectionResetError("the server is gone")
            kind, length = struct.unpack("!ci", head)
            content = self.file.read(length - 4)
            if kind == b"D":
                (size,) = struct.unpack("!i", content[2:6])
                values.append(None if size < 0 else content[6 : 6 + size].decode())
            elif kind == b"E":
                fields = {each[:1]: each[1:].decode() for each in content.split(b"\0") if each}
                aborted = fields[b"C"].startswith("40")
                error = (Aborted if aborted else OSError)(fields[b"M"])
            elif kind == b"Z":
                if error is not None:
                    raise error
                return values

    @contextmanager
    def transaction(self):
        self.ask(f"BEGIN ISOLATION LEVEL {self.level}")
        try:
            yield
        except BaseException:
            self.ask("ROLLBACK")
            raise
        self.ask("COMMIT")

    def create(self):
        self.ask("CREATE TABLE cells (name text PRIMARY KEY, value bigint)")
        self.ask("INSERT INTO cells VALUES ('x', NULL), ('counter', 0)")

    def value(self, name):
        (value,) = self.ask(f"SELECT value FROM cells WHERE name = '{name}'")
        return None if value is None else int(value)

    def update(self, name, value):
        self.ask(f"UPDATE cells SET value = {value} WHERE name = '{name}'")

    def read(self):
        with self.transaction():
            return self.value("x")

    def write(self, value):
        with self.transaction():
            self.update("x", value)

    def cas(self, old, new):
        with self.transaction():
            if self.value("x") != old:
                return False
            self.update("x", new)
        return True

    def add(self, n, between=lambda: None):
        """Add in the program: read, compute, write."""
        with self.transaction():
            before = self.value("counter")
            between()
            self.update("counter", before + n)

    def count(self):
        with self.transaction():
            return self.value("counter")

    def close(self):
        self.file.close()
        self.socket.close()


def postgres():
    """A PostgreSQL server; it refuses root, so root runs it as the user of the package."""
    folders = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")))
    program("initdb", "postgresql", *folders)
    path = os.pathsep.join([*folders, os.environ["PATH"]])
    port = free_port()

    def answers():
        try:
            Postgres(port).close()
        except Aborted as error:
            raise OSError(str(error)) from None

    script = (
        "[ -d data ] || initdb -D data -U tester --auth=trust --no-sync >&2 && "
        f"exec postgres -D data -p {port} -k . -c listen_addresses=127.0.0.1 -c fsync=off"
    )
    user = "postgres" if os.getuid() == 0 else None
    options = {"user": user, "environment": {"PATH": path}, "end": signal.SIGINT}
    return Server(["sh", "-c", script], name="postgres", ready=answers, **options), port
