"""Two searches in competition: depth first and just in time fail on different histories.

They take turns, slice by slice, in one thread; a slice is a number of steps, not a time, so the same history always
has the same winner. The first answer wins; one that gives up leaves the field to the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from latchfree_lincheck.engine.search import Deadline, GaveUp, Outcome, Slices


def race(runners: Mapping[str, Slices], deadline: Deadline) -> tuple[str, Outcome]:
    """Return who answered first, and the answer; or why all gave up, and who gave up last."""
    field = dict(runners)
    gave_up: GaveUp = ""
    last = ""
    while field:
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
            if deadline.passed():
                return name, Outcome(gave_up="timeout")
    return last, Outcome(gave_up=gave_up)
