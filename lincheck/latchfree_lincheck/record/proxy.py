"""A TCP proxy on the loopback, to delay, hold back or cut what passes between two programs.

One event loop in one thread moves all bytes. A change is made in that loop and waited for: when `hold` has returned,
no byte that arrives later is passed on before `release`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final

_CHUNK: Final = 1 << 16
_IN_FLIGHT: Final = 256


class Proxy:
    """Listens at a port of its own and passes every connection on to a server.

    Parameters
    ----------
    port : int
        The server's port.
    host : str
        The server's host.
    name : str, optional
        What reports call it.

    Attributes
    ----------
    port : int
        The port at which the proxy listens, on the loopback.

    Examples
    --------
    >>> with Proxy(5432, name="to the replica") as proxy:
    ...     proxy.hold()       # bytes wait
    ...     proxy.release()    # bytes arrive, in order
    """

    def __init__(self, port: int, host: str = "127.0.0.1", *, name: str | None = None) -> None:
        self.name = name or f"connections to port {port}"
        self._target = (host, port)
        self._delay = 0.0
        self._cut = False
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name=f"latchfree proxy {self.port}", daemon=True)
        self._thread.start()

    def delay(self, seconds: float) -> None:
        """Pass on each byte that comes from now on so many seconds later."""
        if not seconds >= 0:
            raise ValueError(f"a delay of {seconds!r} s: give 0 or more")
        self._do(lambda: setattr(self, "_delay", seconds))

    def hold(self) -> None:
        """Keep every byte from now on."""
        self._do(self._flowing.clear)

    def release(self) -> None:
        """Pass on what was kept, and go on."""
        self._do(self._flowing.set)

    def cut(self) -> None:
        """Reset all connections, and every new one."""

        def reset() -> None:
            self._cut = True
            for writer in tuple(self._writers):
                _reset(writer)

        self._do(reset)

    def heal(self) -> None:
        """Take connections again."""
        self._do(lambda: setattr(self, "_cut", False))

    def close(self) -> None:
        """Reset all connections and stop listening."""
        if self._thread.is_alive():
            self.cut()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _do(self, change: Callable[[], None]) -> None:
        async def changed() -> None:
            change()

        asyncio.run_coroutine_threadsafe(changed(), self._loop).result()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        serving = self._loop.run_until_complete(asyncio.start_server(self._connected, sock=self._socket))
        try:
            self._loop.run_forever()
        finally:
            serving.close()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            if self._cut:
                return  # and reset, below
            other, there = await asyncio.open_connection(*self._target)
            self._writers.add(there)
            if not self._cut:
                await asyncio.gather(self._pass(reader, there), self._pass(other, writer))
        except (OSError, asyncio.CancelledError):
            pass  # one side is gone, so is the other; or the proxy closes
        finally:
            for each in (writer, there):
                if each is not None:
                    self._writers.discard(each)
                    _reset(each) if self._cut else each.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on, in order, each at its time."""
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_IN_FLIGHT)
        taking = asyncio.ensure_future(self._take(reader, waiting))
        try:
            while True:
                due, content = await waiting.get()
                await asyncio.sleep(max(due - self._loop.time(), 0))
                await self._flowing.wait()
                if not content:
                    with suppress(OSError):
                        writer.write_eof()
                    break
                writer.write(content)
                await writer.drain()
            await taking
        finally:
            taking.cancel()

    async def _take(self, reader: asyncio.StreamReader, waiting: asyncio.Queue[tuple[float, bytes]]) -> None:
        content = b"-"
        while content:
            try:
                content = await reader.read(_CHUNK)
            except OSError:
                content = b""
            await waiting.put((self._loop.time() + self._delay, content))

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection at once, and tell the other side that it was lost."""
    with suppress(OSError, AttributeError):  # closed already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
