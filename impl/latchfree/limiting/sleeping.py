"""`Sleepers`: who waits here for tokens of a named limiter, and how they notice that there will be none.

Example: a thread is to sleep for a second until a token is there. It sleeps in the kernel on the word of the limiter's
number. Another process unlinks the limiter, which takes the number away, and wakes all who sleep on the word: the
thread looks, and raises `LimiterGone`.

Invariant: who waits is in `_waiting` from before the last look at the arena until after the sleep. An arena that is
closed says so first, and then wakes until nobody is in `_waiting`. So nobody falls asleep after the last waking: who
comes later finds the arena closed, and on a number that was taken away nobody falls asleep.

A process can be killed before it wakes anybody, and a loop of coroutines can be busy. So nobody sleeps for more than a
second without a look (`latchfree.limiting.limiter`), and who closes gives up after a tenth of a second.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import Final

from latchfree.arena import Arena
from latchfree.sketches.common.place import Place
from latchfree.sketches.kernels.record import NUMBER
from latchfree.streams.futex import FUTEX
from latchfree.streams.watching import Watch

#: How often who closes an arena wakes, and the seconds between two times.
_TIMES: Final = 100
_PAUSE: Final = 0.001
#: Seconds that a coroutine may sleep without a thread that watches the word.
_SHORT: Final = 0.05


class Sleepers:
    """Those who wait for tokens of a limiter that an arena has, in this process.

    Parameters
    ----------
    arena : Arena
    place : Place
        Of the limiter.
    """

    __slots__ = ("__weakref__", "_address", "_arena", "_number", "_waiting", "_watch")

    rank = 0

    def __init__(self, arena: Arena, place: Place) -> None:
        self._arena, self._number = arena, place.number
        self._address = _address(arena, place.root)
        self._waiting: list[tuple[int, int]] = []  # process and thread: a forked child has none of its parent's
        self._watch: Watch | None = None
        if arena.shared:
            arena.holdings.add(self)

    def sleep(self, seconds: float) -> None:
        """Sleep; it ends early if the limiter is gone, or the arena is being closed."""
        if not FUTEX.works:
            time.sleep(seconds)
            return
        me = _here()
        self._waiting.append(me)
        try:
            closing = self._arena.closing
            if not closing:
                FUTEX.wait(self._address, self._number, seconds)
        finally:
            self._waiting.remove(me)
        if closing:  # but not closed: calls are under way
            time.sleep(_PAUSE)

    async def asleep(self, seconds: float) -> None:
        """Sleep as `sleep` does, and let other coroutines run meanwhile."""
        if seconds <= _SHORT or not FUTEX.works:
            await asyncio.sleep(seconds)
            return
        if self._watch is None or self._watch.process != os.getpid():
            self._watch = Watch(self._address)
        me = _here()
        self._waiting.append(me)
        try:
            closing = self._arena.closing
            if not closing:
                await self._watch.wait(self._number, seconds)
        finally:
            self._waiting.remove(me)
        if closing:
            await asyncio.sleep(_PAUSE)

    def end(self) -> None:
        """Wake all; the arena calls this when it is closed."""
        me = _here()
        for _ in range(_TIMES):
            FUTEX.wake(self._address)
            if self._watch is not None:
                self._watch.tell()
            if all(thread == me[1] or process != me[0] for process, thread in self._waiting):
                return  # those of this thread look when it goes on
            time.sleep(_PAUSE)


def wake(arena: Arena, root: int) -> None:
    """Wake all who wait for tokens of a limiter, in all processes, when it is gone."""
    FUTEX.wake(_address(arena, root))


def _address(arena: Arena, root: int) -> int:
    return arena.base + 8 * (root + int(NUMBER))


def _here() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()
