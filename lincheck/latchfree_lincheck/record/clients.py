"""One client of a run: what a thread or a process does from its connection to its last call.

A connection on which an error was not definite is not used again: the answer to the lost call may still come, and
would be taken for the answer to the next one. The client connects anew, and again and again where it is refused.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from random import Random
from typing import Any, Final

from latchfree_lincheck.record.generators import Workload, following
from latchfree_lincheck.record.shared import SharedRecorder
from latchfree_lincheck.record.values import Unrecordable
from latchfree_model import UNKNOWN

AGAIN: Final = 0.02
"""Seconds after which a client that was refused connects again."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What all clients of a run are told.

    Parameters
    ----------
    recorder : SharedRecorder
        Where to record.
    connect : callable
        Makes the client of a number: an object whose methods are the operations; plain or asynchronous.
    workload : callable
        What a client calls.
    seed : int
        Of all random streams.
    rate : float, optional
        Calls of each client per second, at most.
    operations : int, optional
        Calls of each client, at most.
    definite : tuple of exception types
        Errors after which an operation has certainly not taken effect.
    """

    recorder: SharedRecorder
    connect: Callable[[int], Any]
    workload: Workload
    seed: int
    rate: float | None
    operations: int | None
    definite: tuple[type[BaseException], ...]


def work(client: int, life: int, orders: Orders, link: Connection) -> None:
    """Be a client, until the workload ends or the run says so.

    Parameters
    ----------
    client : int
        Its number.
    life : int
        How many processes were this client before.
    orders : Orders
        What to do.
    link : Connection
        To the run: sends ``"ready"``, waits for a word, sends ``"done"`` or the text of an error; any other word, or
        the end of the run, ends the client.
    """
    try:
        with _Client(client, life, orders, link) as it:
            it.run()
        last = "done"
    except EOFError:
        return  # the run has gone
    except BaseException:
        last = traceback.format_exc()
    with suppress(OSError):
        link.send(last)


class _Client:
    def __init__(self, client: int, life: int, orders: Orders, link: Connection) -> None:
        self._client = client
        self._orders = orders
        self._link = link
        self._calls = orders.workload(client, Random(f"{orders.seed} {client} {life}"))
        self._loop: asyncio.Runner | None = None
        self._target: Any = None

    def run(self) -> None:
        self._link.send("ready")
        self._link.recv()
        due = time.monotonic()
        made = 0
        result: object = None
        while self._orders.operations is None or made < self._orders.operations:
            if self._link.poll(max(due - time.monotonic(), 0)):
                return
            if self._orders.rate is not None:
                due = max(due, time.monotonic()) + 1 / self._orders.rate
            if not self._connected():
                return
            try:
                call = following(self._calls, result)
            except StopIteration:
                return
            result = self._call(*call)
            made += 1

    def _connected(self) -> bool:
        """Connect, if need be; False if the run ended before that was possible."""
        refused: tuple[type[BaseException], ...] = (OSError, *self._orders.definite)
        while self._target is None:
            try:
                self._target = self._settled(self._orders.connect(self._client))
            except refused:
                if self._link.poll(AGAIN):
                    return False
        return True

    def _call(self, f: str, *arguments: Any) -> object:
        method = getattr(self._target, f)
        definite = self._orders.definite
        try:
            with self._orders.recorder.call(self._client, f, *arguments, definite=definite) as call:
                call.result = self._settled(method(*arguments))
        except Unrecordable:
            raise
        except Exception as error:
            if not isinstance(error, definite):
                self._disconnect()
            return UNKNOWN
        return call.result

    def _settled(self, value: Any) -> Any:
        """Return a value, awaited if it is awaitable; all of a client's awaiting is done by one event loop."""
        if not inspect.isawaitable(value):
            return value
        if self._loop is None:
            self._loop = asyncio.Runner()

        async def settle() -> Any:
            return await value

        return self._loop.run(settle())

    def _disconnect(self) -> None:
        target, self._target = self._target, None
        close = getattr(target, "close", None)
        if close is not None:
            with suppress(Exception):
                self._settled(close())

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, *error: object) -> None:
        self._disconnect()
        if self._loop is not None:
            self._loop.close()
