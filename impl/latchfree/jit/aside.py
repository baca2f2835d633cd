"""Compile in a thread of its own, where no signal handler runs.

Example: a program is about to put its first key, and numba loads the code for that. A signal comes, and the handler
puts a key, too. Numba cannot be entered in the midst of its own work (a generator that is under way refuses). So the
work is done in a thread of its own, while the main thread waits. Python runs signal handlers in the main thread only. A
handler that needs other code waits in its turn until the lock of the compiler is free.

A handler that raises ends the waiting, and the work goes on until it is done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Work:
    """What is done aside: afterwards its result, or the error that it ended with."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error


class _Waited:
    """The seconds that the main thread has waited for work aside; only the main thread writes it."""

    seconds = 0.0


_waited = _Waited()


def waited() -> float:
    """Return the seconds that this thread has waited for code that was compiled aside."""
    return _waited.seconds if threading.current_thread() is threading.main_thread() else 0.0


def aside(function: Callable[[], T]) -> T:
    """Return what a function returns; in the main thread the function is called in another thread."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    work = _Work(function)
    thread = threading.Thread(target=work.run, name="latchfree-compiler")
    since = time.monotonic()
    try:
        thread.start()
        thread.join()
    finally:
        _waited.seconds += time.monotonic() - since
    if work.error is not None:
        raise work.error
    result: T = work.result
    return result
