"""Ask Z3 without losing Ctrl-C.

Example: Ctrl-C while ``solver.check()`` runs. Z3 takes the signal over and answers "unknown", and Python never hears of
the signal: a proof of many questions goes on with the next one. Here Z3 leaves the signal alone, a thread that waits
for the signal ends the question, and Python raises KeyboardInterrupt as anywhere else.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

#: Seconds between two interrupts of one question.
_PAUSE: Final = 0.02


def leave_ctrl_c(solver: Any) -> Any:
    """Return a solver of Z3 that leaves Ctrl-C to Python."""
    solver.set("ctrl_c", False)
    return solver


class _Watch:
    """A thread that ends the question under way when the signal of Ctrl-C arrives."""

    def __init__(self) -> None:
        self._asked: tuple[Any] | None = None  # the context of the question under way, in a tuple that stands for it
        self._before = -1
        self._process = os.getpid()
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        threading.Thread(target=self._wait, daemon=True, name="latchfree-ctrl-c").start()

    def is_ours(self) -> bool:
        """Return whether the thread lives in this process: a fork leaves threads behind."""
        return self._process == os.getpid()

    def ask(self, context: Any, question: Callable[[], T]) -> T:
        """Return the answer to a question, which Ctrl-C ends."""
        self._before = before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._asked = (context,)
        try:
            return question()
        finally:
            self._asked = None
            signal.set_wakeup_fd(before)

    def _wait(self) -> None:
        while True:
            numbers = os.read(self._read, 64)
            asked = self._asked
            if self._before != -1:
                with suppress(OSError):
                    os.write(self._before, numbers)  # a loop of asyncio waits for signals, too
            # Z3 forgets an interrupt that comes before the question has begun, so one is not enough.
            while signal.SIGINT in numbers and asked is not None and self._asked is asked:
                asked[0].interrupt()
                time.sleep(_PAUSE)


_watch: _Watch | None = None


def ask(context: Any, question: Callable[[], T]) -> T:
    """Return what a question to Z3 answers, and raise KeyboardInterrupt soon after Ctrl-C.

    Parameters
    ----------
    context : z3.Context
        Context of the solver, which `leave_ctrl_c` has returned.
    question : callable
        Asks, for instance ``solver.check``. In another thread than the main one it runs as it is: Ctrl-C goes to the
        main thread.

    Returns
    -------
    object
        The answer.
    """
    global _watch
    if threading.current_thread() is not threading.main_thread():
        return question()
    if _watch is None or not _watch.is_ours():
        _watch = _Watch()
    return _watch.ask(context, question)
