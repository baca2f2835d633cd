"""Log the atomic accesses of random schedules that the explorer runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from latchfree_evidence.refinement.traces.mains import Main, mains_of
from latchfree_explore.board import layout as b
from latchfree_explore.machine.machine import PROBLEMS, Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.target import Target


class Log(NamedTuple):
    """A run: its atomic accesses, what each operation returned, and what the main nodes hold that were read."""

    steps: list[Step]
    results: list[Any]
    mains: dict[int, Main]


def log_schedules(target: Target, scenario: Scenario, seed: int, count: int) -> Iterator[Log]:
    """Run so many random schedules, and yield the log of each.

    Raises
    ------
    RuntimeError
        If a schedule does not end as it should, or is so long that memory may have been freed in it.
    """
    machine = Machine(target, scenario)
    seeds = random.Random(seed)
    for _ in range(count):
        machine.start(RANDOM, seed=seeds.getrandbits(60) | 1)
        with machine.ran() as status:
            if status != b.DONE:
                raise RuntimeError(f"a schedule ends {PROBLEMS[status]}: {scenario}")
            steps = machine.steps
            log = Log(steps, machine.results, mains_of(steps, machine.memory.words))
        yield log
