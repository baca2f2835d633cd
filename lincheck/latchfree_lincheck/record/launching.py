"""Start child processes in one thread that lives as long as this process.

The kernel can kill a child at the death of the thread that started it (PR_SET_PDEATHSIG): of the thread, not of the
process. A child that a short-lived thread restarted would die with that thread.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

R = TypeVar("R")

_SET_PARENT_DEATH_SIGNAL: Final = 1


class _Launcher:
    def __init__(self) -> None:
        self.owner = os.getpid()
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="latchfree launcher", daemon=True).start()

    def _run(self) -> None:
        while True:
            start, answer = self._jobs.get()
            try:
                answer.put((start(), None))
            except BaseException as error:
                answer.put((None, error))

    def run(self, start: Callable[[], Any]) -> Any:
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._jobs.put((start, answer))
        found, error = answer.get()
        if error is not None:
            raise error
        return found


_launchers: list[_Launcher] = []
_lock = threading.Lock()


def launched(start: Callable[[], R]) -> R:
    """Call `start`, which starts a process, in the thread that lives as long as this process; return what it returns.

    A forked child has none of its parent's threads, so it gets a launcher of its own.
    """
    with _lock:
        if not _launchers or _launchers[-1].owner != os.getpid():
            _launchers.append(_Launcher())
        launcher = _launchers[-1]
    found: R = launcher.run(start)
    return found


def die_with(parent: int) -> None:
    """Have the kernel kill this process at the death of the thread of `parent` that started it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the kernel knew
            os._exit(1)
