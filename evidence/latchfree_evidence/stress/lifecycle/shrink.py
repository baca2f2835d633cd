"""Make a failing program small: leave out what it fails without.

Example: of 23 steps in three processes two are left, ``pickle`` and ``close``, since the program still dies of SIGSEGV
without any of the others. What is found depends on how processes meet, so a program is tried several times before the
answer is no.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from latchfree_evidence.stress.lifecycle.driver import Driver
from latchfree_evidence.stress.lifecycle.program import Program, Step

SECONDS: Final = 120.0
_TRIALS: Final = 6
_MOST_TRIALS: Final = 12

Fails: TypeAlias = Callable[[Program], bool]


def _steps(program: Program) -> Iterator[tuple[list[Step], Step]]:
    """Yield every step, with the list that it is in."""
    lists = [process["steps"] for process in program["processes"]]
    while lists:
        steps = lists.pop()
        for step in steps:
            yield steps, step
            if "steps" in step:
                lists.append(step["steps"])


def size(program: Program) -> int:
    """Return how many steps and signals a program has."""
    return sum(1 for _ in _steps(program)) + len(program["signals"])


def _without(program: Program, first: int, last: int) -> Program:
    """Return a program without some of its parts, which have numbers: signals, processes, steps."""
    small = copy.deepcopy(program)
    signals, processes = small["signals"], small["processes"]
    parts: list[tuple[list[Step], Step]] = [(signals, each) for each in signals]
    parts += [(processes, each) for each in processes]
    parts += list(_steps(small))
    for holder, part in parts[first:last]:
        holder[:] = [each for each in holder if each is not part]
    return small


def shrink(program: Program, fails: Fails, deadline: float) -> Program:
    """Return a smaller program that fails, too; the same program if there is none, or no time."""
    if program["bystander"]:
        small = {**program, "bystander": False}
        if fails(small):
            program = small
    width = size(program) + len(program["processes"])
    while width:
        first, total = 0, size(program) + len(program["processes"])
        while first < total and time.monotonic() < deadline:
            small = _without(program, first, first + width)
            if small["processes"] and fails(small):
                program, total = small, size(small) + len(small["processes"])
            else:
                first += width
        width //= 2
    return program


def shrink_failing(driver: Driver, program: Program, kind: str, seconds: float = SECONDS) -> Program:
    """Make a program small that was judged wrong.

    Parameters
    ----------
    driver : Driver
        Runs and judges each smaller program.
    program : dict
        The program that was judged wrong; it is not changed.
    kind : str
        Of the finding that the small program must have, too.
    seconds : float
        After which the smallest so far is returned.
    """
    deadline = time.monotonic() + seconds

    def hits(candidate: Program, times: int) -> Iterator[bool]:
        for _, judged in driver.run(candidate for _ in range(times)):
            yield any(found == kind for found, _ in judged.findings)

    rate = sum(hits(program, _TRIALS)) / _TRIALS
    times = min(_MOST_TRIALS, round(2 / max(rate, 0.1)))

    def fails(candidate: Program) -> bool:
        runs = hits(candidate, times)
        return any(runs)

    return shrink(program, fails, deadline)
