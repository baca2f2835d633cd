"""Whether a wakeup was lost: a notify came when nobody waited, and who waits now has not looked at anything since."""

from __future__ import annotations

from typing import Any, Final

from latchfree_explore.python.core.steps import ACQUIRE, PROBE, READ, RELEASE, TRY, Location, Step
from latchfree_explore.python.core.task import Task

_NO_WRITES: Final = (READ, PROBE, ACQUIRE, TRY, RELEASE)


def lost(run: Any, waiting: list[Task]) -> str | None:
    """Return who has notified in vain, in words; None if nobody has.

    A thread that, after the notify, has looked at a place which the notifier had written before, and has not written
    there first, knows what the notify said: it waits for another one, as a consumer does that finds nothing left. What
    the notifier has taken back, as an event that is set and cleared, says nothing.
    """
    for task in waiting:
        found = run.unheard.get(task.condition)
        if found is not None:
            notifier, at = found
            written = _written(run.steps[:at], notifier) - _written(run.steps[at:], notifier)
            if not written & _looked_at(run.steps[at:], task.number):
                return f"{run.tasks[notifier].name} notified before, when nobody waited"
    return None


def _looked_at(steps: list[Step], thread: int) -> set[Location]:
    """Return the places that a thread has read before it wrote there."""
    first: dict[Location, str] = {}
    for step in steps:
        if step.thread == thread:
            for location, kind in step.accesses.items():
                first.setdefault(location, kind)
    return {location for location, kind in first.items() if kind == READ and location[1] != "notify"}


def _written(steps: list[Step], thread: int) -> set[Location]:
    """Return the places that a thread has written."""
    return {
        location
        for step in steps
        if step.thread == thread
        for location, kind in step.accesses.items()
        if kind not in _NO_WRITES
    }
