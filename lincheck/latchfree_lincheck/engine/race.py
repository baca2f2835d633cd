"""Searches in competition: depth-first and just-in-time search fail on different histories.

The searches take turns, slice by slice, in one thread. A slice is a number of steps and not a time, so the same history
always has the same winner. The first answer wins; a search that gives up leaves the field to the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from latchfree_lincheck.engine.bounds import Deadline, GaveUp
from latchfree_lincheck.engine.outcome import Outcome, Slices


def race(runners: Mapping[str, Slices], deadline: Deadline, turns: int | None = None) -> tuple[str, Outcome]:
    """Return who answered first, and the answer; or why all gave up, and who gave up last.

    Parameters
    ----------
    runners : mapping of str to Slices
        The searches, by name.
    deadline : Deadline
        When they end.
    turns : int, optional
        After how many turns each they end, with the reason "budget".
    """
    field = dict(runners)
    gave_up: GaveUp = ""
    last = ""
    taken = 0
    while field:
        if taken == turns:
            return last, Outcome(gave_up="budget")
        taken += 1
        for name in list(field):
            try:
                next(field[name])
            except StopIteration as stop:
                outcome: Outcome = stop.value
                if not outcome.gave_up:
                    return name, outcome
                del field[name]
                last = name
                gave_up = gave_up if gave_up == "memory" else outcome.gave_up
            if deadline.spent():
                return name, Outcome(gave_up="budget")
            if deadline.passed():
                return name, Outcome(gave_up="timeout")
    return last, Outcome(gave_up=gave_up)
