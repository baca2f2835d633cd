"""Limits for code that may loop for ever: of steps, which decide; and of processor time, for what takes no step.

Example: a mutant walks a list whose last node is linked to the first. Each round of the loop is a step, and after a
number of them the mutant hangs: after the same number on every machine, however busy the machine is.

A step is the begin of a translated kernel, or a round of one of its loops. What loops without kernels, such as a walk
of a trial over memory, takes no step: there a limit of processor time is left, hundreds of times what any trial takes.
"""

from __future__ import annotations

import signal
from typing import Any, Final

#: Seconds of processor time after which code hangs that takes no step; no trial or program takes half of one.
_SECONDS: Final = 300.0


class Hang(BaseException):
    """A limit has passed. No ``except Exception`` catches it."""


class _Steps:
    """Steps that are left; at 0 or below there is no limit, and `taken` counts them all the same."""

    left = 0
    most = 0


def step() -> None:
    """Take a step; raise `Hang` if it was the last."""
    _Steps.left -= 1
    if _Steps.left == 0:
        raise Hang("steps")


def taken() -> int:
    """Return how many steps were taken since `allow` or `refill`."""
    return _Steps.most - _Steps.left


def refill() -> None:
    """Begin to count anew, with the same limit."""
    _Steps.left = _Steps.most


def _ring(number: int, frame: Any) -> None:
    raise Hang("processor time")


def allow(steps: int) -> None:
    """Raise `Hang` in the main thread after so many steps, or after much processor time, from now; 0: never."""
    _Steps.most = steps
    refill()
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS if steps else 0)
