"""What weak memory costs the explorer: a small program of each target, sequentially consistent and in weak memory.

Run: ``python bench/measuring/weak.py [TARGET...]``. It prints a table: the schedules of the exhaustive strategy under
each memory model, up to a bound; how many random schedules a second run on sequentially consistent and on weak memory.
"""

import sys
import time

from latchfree_evidence.orders.programs import programs, targets
from latchfree_evidence.targets.finding import find_target
from latchfree_explore import Scenario, search
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.strategies.table import strategy_named
from latchfree_explore.weak.axioms import MODELS

BOUND = 20_000
SMALL = 2_000
RANDOM = 20_000
ROUNDS = 3


def run(target: str, scenario: str, memory: str, strategy: Strategy, most: int) -> tuple[search.Tally, float]:
    """Run up to so many schedules, warm; return what came of it, and the seconds."""
    machine = Machine(find_target(target), Scenario.parse(scenario), memory=memory, races=True)
    search.warm_up(machine)
    search.run(machine, strategy, seed=2, schedules=50)
    began = time.perf_counter()
    done = search.run(machine, strategy, seed=1, schedules=most)
    return done, time.perf_counter() - began


def small(target: str) -> str:
    """Return the first program of a target that has few schedules, or else its first."""
    for program in programs(target):
        done, _ = run(target, program.scenario, "sc", strategy_named("dpor"), SMALL)
        if done.complete:
            return program.scenario
    return next(programs(target)).scenario


def row(target: str) -> str:
    """Return a row of the table."""
    scenario = small(target)
    counts = []
    for memory in MODELS:
        done, _ = run(target, scenario, memory, strategy_named("dpor"), BOUND)
        if done.failure is not None:
            raise SystemExit(f"{target}: {scenario}: {memory}: {done.failure.kind}: {done.failure.message}")
        counts.append(f"{done.schedules:,}" if done.complete else f"{done.schedules:,} (bound)")
    rates = {}
    for memory in ("sc", "rc11"):
        rounds = [run(target, scenario, memory, strategy_named("random"), RANDOM) for _ in range(ROUNDS)]
        rates[memory] = max(done.schedules / seconds for done, seconds in rounds)
    program = scenario.replace("|", "\\|")
    return (
        f"| {target} | `{program}` | {' | '.join(counts)} | {rates['sc']:,.0f} | {rates['rc11']:,.0f} "
        f"| {rates['rc11'] / rates['sc']:.2f} |"
    )


def main() -> None:
    """Print the table."""
    print(f"| target | program | {' | '.join(MODELS)} | sc, a second | rc11, a second | ratio |")
    print("|---|---|" + "---:|" * (len(MODELS) + 3))
    for target in sys.argv[1:] or targets():
        print(row(target), flush=True)


if __name__ == "__main__":
    main()
