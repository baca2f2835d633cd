"""Whether compiled code is there, and a clock that stands still while code is compiled.

Code is compiled once for a machine, at its first call, and kept on disk; that takes many seconds. A process loads what
is kept at its first call, which takes a fraction of one. Neither is time of a check: `clock` leaves out what numba's
compiler lock was held, or waited for, by the thread that asks.

Code is *there* if this process has called it, or the cache on disk has it for some types of arguments: the engines call
each of their functions with the same types every time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from numba.core import event


class NotThere(Exception):
    """Code that is not compiled is needed, and there is no time to compile it."""


class _Stopwatch(event.Listener, threading.local):
    """The seconds that a thread has held the compiler lock or waited for it."""

    def __init__(self) -> None:
        self._depth = 0
        self._since = 0.0
        self._taken = 0.0

    def taken(self) -> float:
        """Return the seconds until now."""
        return self._taken + (time.monotonic() - self._since if self._depth else 0.0)

    def on_start(self, event: object) -> None:
        """Note that the lock is asked for; one thread may ask again while it holds it."""
        if self._depth == 0:
            self._since = time.monotonic()
        self._depth += 1

    def on_end(self, event: object) -> None:
        """Note that the lock is released."""
        if self._depth == 1:
            self._taken += time.monotonic() - self._since
        self._depth = max(self._depth - 1, 0)


_STOPWATCH: Final = _Stopwatch()
event.register("numba:compiler_lock", _STOPWATCH)  # type: ignore[no-untyped-call]


def clock() -> float:
    """Return the seconds of this thread, from any beginning, in which it did not compile or load compiled code."""
    return time.monotonic() - _STOPWATCH.taken()


def is_there(kernel: Callable[..., Any]) -> bool:
    """Return whether a kernel can be called without being compiled."""
    return bool(kernel.overloads) or _is_kept(kernel)  # type: ignore[attr-defined]


def _is_kept(kernel: Any) -> bool:
    """Return whether the cache on disk has code of a kernel; not where there is no cache."""
    index = getattr(getattr(kernel._cache, "_cache_file", None), "_index_path", None)
    return index is not None and Path(index).is_file()
