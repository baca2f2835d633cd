"""What cannot be controlled is named, never hung on: a call that blocks outside Python, an endless loop in C.

A thread of the system looks now and then whether the exploration gets on. If it does not for `PATIENCE` seconds, the
watchdog notes the line where it hangs and interrupts the main thread as Ctrl-C does. No other thread can be
interrupted: there the line is said on standard error, once.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from latchfree_explore.python.core.places import is_of_the_program
from latchfree_explore.python.core.run import CONTROL

PATIENCE: Final = 30.0
"""Seconds without a step after which a call is taken to be out of control."""


class Watchdog:
    """A context that watches a number that grows while all is well.

    Parameters
    ----------
    progress : callable
        Returns the number.

    Attributes
    ----------
    hung_at : str
        Where it hung; empty as long as it does not.
    """

    def __init__(self, progress: Callable[[], int]) -> None:
        self._progress = progress
        self._watched = threading.get_ident()
        self._main = threading.current_thread() is threading.main_thread()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="latchfree-watchdog")
        self.hung_at = ""

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        before, since = self._progress(), time.monotonic()
        while not self._over.wait(PATIENCE / 10):
            now = self._progress()
            if now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since >= PATIENCE:
                since = time.monotonic()
                self.hung_at = _place(sys._current_frames().get(self._watched))
                if self._over.is_set():
                    return
                if self._main:
                    CONTROL.pressed = True  # the next Ctrl-C is raised at once
                    signal.pthread_kill(self._watched, signal.SIGINT)
                    continue
                print(f"latchfree: {self.why()}; explore in the main thread to have it ended", file=sys.stderr)
                return

    def why(self) -> str:
        """Return where it hung, and what to do."""
        return (
            f"{self.hung_at}: no step in {PATIENCE:g} s; fix: a call that waits outside Python, as on a socket or a "
            "process, or a loop without end, cannot be explored: replace it in setup="
        )


def _place(frame: FrameType | None) -> str:
    """Return where a thread stands: in the nearest function of the program, else in the innermost one."""
    found = frame
    while found is not None and not is_of_the_program(found.f_code.co_filename):
        found = found.f_back
    found = found or frame
    return "" if found is None else f"{found.f_code.co_filename}:{found.f_lineno} in {found.f_code.co_qualname}"
