"""Schedules beside execution graphs: how many there are of small programs, and how long the explorer takes for all.

Run: ``python bench/measuring/graphs.py [TARGET...]``. It prints a table. Both strategies run to their end, up to a
minute, after a first schedule and graph that compile what is needed.
"""

import sys
import time

from latchfree_evidence.targets.finding import find_target
from latchfree_explore import Scenario, search
from latchfree_explore.graphs import searching
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.dpor import DPOR

MEMORY = "rc11"
SECONDS = 60.0
PROGRAMS = (
    ("sleepers", "wait | wait | post"),
    ("sleepers", "wait | post | post"),
    ("closing-ring", "put(1) | put(2) | close; get; get"),
    ("ring", "enqueue(1); enqueue(2) | dequeue; dequeue"),
    ("epochs", "init: write(1) | read | write(2); tick; tick; write(3) | tick"),
    ("free-list", "init: push(1); push(2) | pop | push(3) | pop; push(2)"),
    ("reclaiming-ctrie", "init: put(0, 1) | put(0, 2); put(0, 3) | get(0); get(0) | keys: flat"),
    ("pins", "read | replace"),
    ("ctrie", "init: put(0, 1) | put(0, 2) | snapshot | after: get(0) | keys: flat"),
)


def run(target: str, scenario: str, *, by_graphs: bool) -> tuple[search.Tally, float]:
    """Run a program to the end; return what came of it, and the seconds."""
    machine = Machine(find_target(target), Scenario.parse(scenario), memory=MEMORY, races=True)
    search.warm_up(machine)
    for limit in (1, None):
        began = time.perf_counter()
        deadline = time.monotonic() + SECONDS
        if by_graphs:
            done = searching.run(machine, schedules=limit, deadline=deadline)
        else:
            done = search.run(machine, DPOR, schedules=limit, deadline=deadline)
    return done, time.perf_counter() - began


def counted(done: search.Tally) -> str:
    """Say how many were run, and how many more were cut short."""
    if done.failure is not None:
        return f"{done.schedules:,}, {done.failure.kind}"
    return f"{done.schedules:,} + {done.slept:,}" + ("" if done.complete else " (bound)")


def main() -> None:
    """Print the table."""
    print("| target | program | schedules | seconds | graphs | seconds | graphs a second |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for target, scenario in PROGRAMS:
        if sys.argv[1:] and target not in sys.argv[1:]:
            continue
        schedules, spent = run(target, scenario, by_graphs=False)
        graphs, longer = run(target, scenario, by_graphs=True)
        program = scenario.replace("|", "\\|")
        print(
            f"| {target} | `{program}` | {counted(schedules)} | {spent:.2f} | {counted(graphs)} | {longer:.2f} "
            f"| {(graphs.schedules + graphs.slept) / longer:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
