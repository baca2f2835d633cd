"""The bounds of a search: time, steps and memory."""

from __future__ import annotations

from typing import Final, Literal

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.history.compiled_code import NotThere, clock

MEMORY: Final = 2 << 30
"""Default bound on the memory of a search, in bytes."""

GaveUp = Literal["", "timeout", "memory", "budget", "crowded", "large", "uncompiled"]
"""Why a search ended without an answer; empty if it has one."""


class Expired(Exception):
    """The deadline passed before the search began."""


class Deadline:
    """The end of all searches of a check: a point in time or a number of steps, whichever comes first, or never.

    Its time stands still while this thread compiles.

    Parameters
    ----------
    timeout : float or None
        Seconds from now.
    budget : int, optional
        Steps of all searches together. Unlike time, steps are the same in every run.
    compiles : bool
        Whether there is time to compile what is not compiled yet.
    """

    __slots__ = ("at", "budget", "compiles", "steps", "timeout")

    def __init__(self, timeout: float | None, budget: int | None = None, *, compiles: bool = True) -> None:
        self.timeout = timeout
        self.budget = budget
        self.compiles = compiles
        self.steps = 0
        self.at = None if timeout is None else clock() + timeout

    def may_call(self, *names: str) -> bool:
        """Return whether calls of the engines' border are compiled, or there is time to compile them."""
        return self.compiles or all(map(ENGINE.is_there, names))

    def require(self, *names: str) -> None:
        """Raise NotThere unless calls are compiled, or there is time to compile them."""
        if not self.may_call(*names):
            raise NotThere

    def passed(self) -> bool:
        """Return whether it is over."""
        return self.at is not None and clock() >= self.at

    def spend(self, steps: int) -> None:
        """Count steps that were taken."""
        self.steps += steps

    def spent(self) -> bool:
        """Return whether the budget is used up."""
        return self.budget is not None and self.steps >= self.budget

    def slice(self, most: int) -> int:
        """Return how many steps to take before looking again: at least 1, at most `most`."""
        return most if self.budget is None else max(1, min(most, self.budget - self.steps))

    def left(self) -> float | None:
        """Return the seconds until it is over, at least 0; None if it never is."""
        return None if self.at is None else max(0.0, self.at - clock())

    def __str__(self) -> str:
        return "no timeout" if self.timeout is None else f"timeout of {self.timeout:g} s"
