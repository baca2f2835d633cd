"""Scripts: a schedule in a few words.

Example: ``0:cas 1+ 0`` lets thread 0 run up to its compare-and-swap, thread 1 finish an operation, and thread 0 go on
to its end.

A script is a list of pieces, separated by spaces; each lets one thread go on. After the last piece the threads
run to their ends without preemption.

=============  ==================================================================
``1``          thread 1 runs to its end
``1*12``       it makes twelve accesses
``1+``         it finishes the operation it is in, or its next one
``1:cas``      it stops before its next compare-and-swap
``1:gcas``     it stops before its next access in a function, or file, of that name
``1:gcas.py:70``  it stops before its next access in that line
=============  ==================================================================
"""

from __future__ import annotations

import re
from typing import Final

from latchfree_explore.machine.machine import Machine
from latchfree_explore.sources import function_of
from latchfree_explore.steps import Step

_PIECE: Final = re.compile(r"(\d+)(?:\*(\d+)|(\+)|:(\S+))?")


def schedule_of(machine: Machine, script: str) -> list[int]:
    """Return the schedule that a script stands for.

    Raises
    ------
    ValueError
        If it is malformed, or a thread cannot do what it says.
    """
    schedule: list[int] = []
    for piece in script.split():
        found = _PIECE.fullmatch(piece)
        if found is None:
            raise ValueError(
                f"script: expected a thread and where it stops, such as 1, 1*12, 1+ or 1:cas, not {piece!r}"
            )
        thread = int(found[1])
        if thread >= len(machine.scenario.threads):
            raise ValueError(f"script: there is no thread {thread} in {machine.scenario}")
        schedule += [thread] * _count(machine, schedule, thread, piece, found)
    return schedule


def _count(machine: Machine, schedule: list[int], thread: int, piece: str, found: re.Match[str]) -> int:
    """Return how many accesses of the thread a piece stands for."""
    machine.run(schedule, then=thread)
    made = []
    for step in machine.steps[len(schedule) :]:
        if step.thread != thread:
            break
        made.append(step)
    if found[2]:
        if int(found[2]) > len(made):
            raise ValueError(f"script: {piece}: thread {thread} can make only {len(made)} accesses there")
        return int(found[2])
    if found[3]:
        return sum(step.call == made[0].call for step in made) if made else 0
    if found[4]:
        for k, step in enumerate(made):
            if matches(step, found[4]):
                return k
        raise ValueError(f"script: {piece}: thread {thread} comes to no such access; it makes {_summary(made)}")
    return len(made)


def matches(step: Step, pattern: str) -> bool:
    """Return whether a pattern names the access: its kind, its function, its file, or its file and line."""
    file, _, line = step.site.rpartition(":")
    name = file.rpartition("/")[2]
    names = (step.kind, function_of(step.site), name, name.removesuffix(".py"), f"{name}:{line}", step.site)
    return pattern in names


def _summary(steps: list[Step]) -> str:
    return ", ".join(f"{step.kind} in {function_of(step.site)}" for step in steps[:8]) or "none"
