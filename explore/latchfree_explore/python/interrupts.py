"""Ctrl-C while a program is explored: it takes effect between two steps, or two schedules, never in the midst of one.

Raised anywhere, KeyboardInterrupt would run through the code that is explored, which then does what no schedule does,
or through the code that puts everything back. A second Ctrl-C is raised at once, for what hangs.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

from latchfree_explore.python.core.run import CONTROL


class Interrupts:
    """A context in which the first Ctrl-C is noted. A handler that the program has set itself stays."""

    def __init__(self) -> None:
        self._set = False

    def __enter__(self) -> Interrupts:
        CONTROL.pressed = False
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._press)
            self._set = True
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if self._set:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._set = False
        pressed, CONTROL.pressed = CONTROL.pressed, False
        if pressed and kind is None:
            raise KeyboardInterrupt

    def _press(self, number: int, frame: FrameType | None) -> None:
        if CONTROL.pressed:
            raise KeyboardInterrupt
        CONTROL.pressed = True


def check() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed: here nothing is half done."""
    if CONTROL.pressed:
        CONTROL.pressed = False
        raise KeyboardInterrupt
