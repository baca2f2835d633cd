"""Log the atomic accesses of random schedules that the explorer runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from latchfree_explore.machine import loop
from latchfree_explore.machine.machine import PROBLEMS, Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.target import Target


def log_schedules(target: Target, scenario: Scenario, seed: int, count: int) -> Iterator[tuple[list[Step], list[Any]]]:
    """Run so many random schedules; yield the atomic accesses of the threads, and what each operation returned.

    Raises
    ------
    RuntimeError
        If a schedule does not end as it should.
    """
    machine = Machine(target, scenario)
    machine.start(RANDOM, seed=seed + 1)
    for _ in range(count):
        if machine.drive(1) == loop.TROUBLE:
            raise RuntimeError(f"a schedule ends {PROBLEMS[machine.status]}: {scenario}")
        yield machine.steps, machine.results
