"""Of the schedules that fail in one way, one with the fewest preemptions.

All schedules without a preemption are run, then those with one, and so on. A schedule counts that fails as it is, or
whose equivalent that fails has no more preemptions: they are counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

from latchfree_explore.python.core.constants import Constants
from latchfree_explore.python.core.run import Chooser, Run
from latchfree_explore.python.search.strategies import Bounded, Fixed
from latchfree_explore.python.verdicts import Wrong

MOST: Final = 3
"""Preemptions of the schedules that are run."""


class Runs(Protocol):
    """Runs schedules of one program, and knows what is known of all of them."""

    constants: Constants

    def execute(self, chooser: Chooser) -> tuple[Run, Wrong | None]:
        """Run one schedule and judge it."""
        ...


def fewest(machine: Runs, wrong: Wrong, until: float) -> tuple[Wrong, int | None]:
    """Return a failing schedule with the fewest preemptions, and how many, if the search ends in time.

    Parameters
    ----------
    machine : Runs
        Its constants are left as they are where the schedule that is returned fails.
    wrong : Wrong
        A schedule that fails.
    until : float
        When the search ends, on the monotonic clock; then a schedule is returned that may have more.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C is pressed; the constants are those of `wrong`.
    """
    first = known = machine.constants.copied()
    best = wrong
    try:
        for bound in range(MOST + 1):
            strategy = Bounded(bound)
            while True:
                if time.monotonic() > until:
                    machine.constants = known
                    return best, None
                run, other = machine.execute(strategy)
                if machine.constants.refuted():
                    strategy.restart()
                    continue
                if other is not None and other.kind == wrong.kind:
                    if other.choices == run.choices or _preemptions(machine.execute, other) <= bound:
                        return other, bound
                    if best is wrong:
                        best, known = other, machine.constants.copied()
                if not strategy.advance(run):
                    break
    except KeyboardInterrupt:
        machine.constants = first
        raise
    machine.constants = known
    return best, None


def _preemptions(execute: Callable[[Chooser], tuple[Run, Wrong | None]], wrong: Wrong) -> int:
    """Return how many preemptions a schedule has."""
    counting = _Counting(wrong.choices)
    execute(counting)
    return counting.preemptions


class _Counting(Fixed):
    """One schedule, given; its preemptions are counted."""

    def __init__(self, choices: list[int]) -> None:
        super().__init__(choices)
        self.preemptions = 0

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Return the next choice."""
        chosen = super().choose(run, enabled, last)
        self.preemptions += last in enabled and chosen != last
        return chosen
