"""The keyboard: single keys from a terminal, or lines from whatever standard input is.

Invariant: the terminal is left as it was found, however the program ends.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_END: Final = b"\x04"
"""Ctrl-D, which a terminal that hands on single keys does not take for the end."""


@contextmanager
def keyboard() -> Iterator[Callable[[float], str]]:
    """Return a function that waits for a key so many seconds, and returns the key, "" if none, "q" at the end."""
    try:
        number = sys.stdin.fileno()
        terminal = os.isatty(number)
    except (AttributeError, OSError, ValueError):  # closed, or none at all
        yield _nobody
        return
    if not terminal:
        yield lambda seconds: _key(number, seconds)
        return
    import termios
    import tty

    before = termios.tcgetattr(number)

    def restored() -> None:
        termios.tcsetattr(number, termios.TCSADRAIN, before)

    try:
        with _on_termination(restored):
            tty.setcbreak(number)
            yield lambda seconds: _key(number, seconds)
    finally:
        restored()


@contextmanager
def _on_termination(act: Callable[[], None]) -> Iterator[None]:
    """Do something before SIGTERM or SIGHUP ends the process; only the main thread can hear of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        act()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    ending = (signal.SIGTERM, signal.SIGHUP)
    kept = {number: signal.signal(number, end) for number in ending if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _key(number: int, seconds: float) -> str:
    ready, _, _ = select.select([number], [], [], seconds)
    if not ready:
        return ""
    read = os.read(number, 1)
    return "q" if read in (b"", _END) else read.decode("ascii", "replace").strip().lower()


def _nobody(seconds: float) -> str:
    time.sleep(seconds)
    return ""
