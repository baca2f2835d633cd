"""Ask Z3 without losing Ctrl-C.

Example: Ctrl-C while ``solver.check()`` runs. Z3 takes the signal over and answers "unknown", and Python never hears of
the signal: a proof of many questions goes on with the next one. Here Z3 leaves the signal alone, a thread that waits
for the signal ends the question, and Python raises KeyboardInterrupt as anywhere else.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def leave_ctrl_c(solver: Any) -> Any:
    """Return a solver of Z3 that leaves Ctrl-C to Python."""
    solver.set("ctrl_c", False)
    return solver


class _Watch:
    """A thread that ends the question under way when the signal of Ctrl-C arrives."""

    def __init__(self) -> None:
        self.context: Any = None
        """Where a question is under way, if one is."""
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
        self.context = context
        try:
            return question()
        finally:
            self.context = None
            signal.set_wakeup_fd(before)

    def _wait(self) -> None:
        while True:
            numbers = os.read(self._read, 64)
            context = self.context
            if signal.SIGINT in numbers and context is not None:
                context.interrupt()
            if self._before != -1:
                os.write(self._before, numbers)  # a loop of asyncio waits for signals, too


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
