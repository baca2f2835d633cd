"""A clock that stands still while code is compiled.

Where the library of compiled code does not serve, code is compiled once for a machine, at its first call, and kept on
disk; that takes many seconds. A process loads what is kept at its first call, which takes a fraction of one. Neither is
time of a check: `clock` leaves out what numba's compiler lock was held, or waited for, by the thread that asks.
"""

from __future__ import annotations

import threading
import time
from typing import Final

from latchfree.jit import waited, when_started


class NotThere(Exception):
    """Code that is not compiled is needed, and there is no time to compile it."""


class _Stopwatch(threading.local):
    """The seconds that a thread has held the compiler lock or waited for it."""

    def __init__(self) -> None:
        self._depth = 0
        self._since = 0.0
        self._taken = 0.0

    def taken(self) -> float:
        """Return the seconds until now."""
        return self._taken + (time.monotonic() - self._since if self._depth else 0.0)

    def start(self) -> None:
        """Note that the lock is asked for; one thread may ask again while it holds it."""
        if self._depth == 0:
            self._since = time.monotonic()
        self._depth += 1

    def end(self) -> None:
        """Note that the lock is released."""
        if self._depth == 1:
            self._taken += time.monotonic() - self._since
        self._depth = max(self._depth - 1, 0)


_STOPWATCH: Final = _Stopwatch()


def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            _STOPWATCH.start()

        def on_end(self, event: object) -> None:
            _STOPWATCH.end()

    event.register("numba:compiler_lock", Listener())  # type: ignore[no-untyped-call]


when_started(_listen)


def clock() -> float:
    """Return the seconds of this thread, from any beginning, in which it did not compile or load compiled code."""
    return time.monotonic() - _STOPWATCH.taken() - waited()
