"""Limits of processor time, for code that may loop for ever.

Processor time, and not time of day: on a busy machine a mutant must not look like one that hangs.
"""

from __future__ import annotations

import signal
from typing import Any


class Hang(BaseException):
    """A limit of processor time has passed. No ``except Exception`` catches it."""


def _ring(number: int, frame: Any) -> None:
    raise Hang


def allow(seconds: float) -> None:
    """Raise `Hang` in the main thread after so many seconds of processor time from now; 0: never."""
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
