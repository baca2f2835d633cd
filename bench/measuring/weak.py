"""What weak memory costs the explorer: a small program of each target, sequentially consistent and in weak memory.

Run: ``python bench/measuring/weak.py [TARGET...]``. It prints a table: the schedules of the exhaustive strategy under
each memory model, up to a bound; how many random schedules a second run on sequentially consistent and on weak memory.
With ``--rates`` it prints how many schedules a second run under each memory model, for all programs of the targets and
two strategies; the ratio is that of the slowest weak model.
"""

import argparse
import time
from collections.abc import Iterator

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
ROUNDS = 5


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


def rates_of(target: str, scenario: str, memories: tuple[str, ...], strategy: Strategy) -> list[float]:
    """Return how many schedules a second run under each memory model, in the best of some rounds; models take turns."""
    best = [0.0] * len(memories)
    for _ in range(ROUNDS):
        for k, memory in enumerate(memories):
            done, seconds = run(target, scenario, memory, strategy, RANDOM)
            best[k] = max(best[k], done.schedules / seconds)
    return best


def rates(target: str) -> Iterator[str]:
    """Yield the rows of the table of rates."""
    for program in programs(target):
        for strategy in ("dpor", "random"):
            found = rates_of(target, program.scenario, MODELS, strategy_named(strategy))
            shown = " | ".join(f"{each:,.0f}" for each in found)
            text = program.scenario.replace("|", "\\|")
            yield f"| {target} | `{text}` | {strategy} | {shown} | {min(found[1:]) / found[0]:.2f} |"


def row(target: str) -> str:
    """Return a row of the table."""
    scenario = small(target)
    counts = []
    for memory in MODELS:
        done, _ = run(target, scenario, memory, strategy_named("dpor"), BOUND)
        if done.failure is not None:
            raise SystemExit(f"{target}: {scenario}: {memory}: {done.failure.kind}: {done.failure.message}")
        counts.append(f"{done.schedules:,}" if done.complete else f"{done.schedules:,} (bound)")
    strong, weak = rates_of(target, scenario, ("sc", "rc11"), strategy_named("random"))
    program = scenario.replace("|", "\\|")
    return f"| {target} | `{program}` | {' | '.join(counts)} | {strong:,.0f} | {weak:,.0f} | {weak / strong:.2f} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="What weak memory costs the explorer.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all of them if none is named")
    parser.add_argument("--rates", action="store_true", help="schedules a second under each memory model")
    given = parser.parse_args()
    if given.rates:
        print(f"| target | program | strategy | {' | '.join(f'{model}, a second' for model in MODELS)} | ratio |")
        print("|---|---|---|" + "---:|" * (len(MODELS) + 1))
    else:
        print(f"| target | program | {' | '.join(MODELS)} | sc, a second | rc11, a second | ratio |")
        print("|---|---|" + "---:|" * (len(MODELS) + 3))
    for target in given.targets or targets():
        for line in rates(target) if given.rates else [row(target)]:
            print(line, flush=True)


if __name__ == "__main__":
    main()
