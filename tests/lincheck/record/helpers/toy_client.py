"""The client of the toy server, and workloads, at the top of a module: clients that are processes need them there."""

import json
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from latchfree_lincheck.record import Server, free_port, listens

SCRIPT = Path(__file__).with_name("toy_server.py")


class Refused(Exception):
    """The server says that it did nothing."""


class Client:
    """A connection to a toy server."""

    def __init__(self, port, patience=60):
        self.socket = socket.create_connection(("127.0.0.1", port), patience)
        self.file = self.socket.makefile("rw")

    def ask(self, line):
        self.file.write(f"{line}\n")
        self.file.flush()
        answer = self.file.readline()
        if not answer:
            raise ConnectionResetError("the server is gone")
        return answer.strip()

    def write(self, value):
        if self.ask(f"write {value}") == "refused":
            raise Refused

    def read(self):
        return json.loads(self.ask("read"))

    def close(self):
        self.socket.close()
        with suppress(OSError):  # what could not be sent
            self.file.close()


class LaterClient:
    """The same, asynchronous."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def connected(cls, port):
        import asyncio

        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, line):
        self.writer.write(f"{line}\n".encode())
        return (await self.reader.readline()).decode().strip()

    async def write(self, value):
        await self.ask(f"write {value}")

    async def read(self):
        return json.loads(await self.ask("read"))

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


@dataclass(frozen=True)
class To:
    """Connects to a port."""

    port: int

    def __call__(self, client):
        return Client(self.port)


def own_writes(client, rng):
    """Write, and read what was written."""
    for turn in range(1_000_000):
        yield "write", 1_000_000 * client + turn
        yield ("read",)


def writes(client, rng):
    """Write 20 values."""
    for turn in range(20):
        yield "write", turn


def reads(client, rng):
    """Read for ever."""
    while True:
        yield ("read",)


def broken(client, rng):
    """Call what there is not."""
    yield ("erase",)


def raising(client, rng):
    """End by an error."""
    yield ("read",)
    raise ZeroDivisionError("in the workload")


def odd(client, rng):
    """Call with what no history can hold."""
    yield "write", b"x"


def toy(*options, folder=None):
    """Return a toy server and the port it will listen at."""
    port = free_port()
    command = [sys.executable, "-S", str(SCRIPT), str(port), *map(str, options)]
    return Server(command, name="toy", ready=listens(port), folder=folder), port
