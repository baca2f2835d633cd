"""How many schedules a second the explorer runs, how fast it covers everything, and how fast it finds each mutant.

    python bench/explore.py [--seconds S] [--mutants]

Times are of running and judging; compiling comes before and is shown for mutants, which are run in processes of
their own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from latchfree_lincheck.explore import Exploration, explore

THREE_BY_TWO = {
    "flat keys": "put(0, 1); get(1) | put(1, 2); remove(0) | get(0); put(0, 4) | keys: flat",
    "keys of one slot": "put(0, 1); get(1) | put(1, 2); remove(0) | get(0); put(0, 4) | keys: shared",
    "with a snapshot": "put(0, 1); get(1) | put(1, 2); remove(0) | snapshot; put(0, 4) | keys: pairs",
}
EXHAUSTIVE = {
    "same slot of the root": "put(0, 1) | put(1, 2) | get(0) | keys: shared",
    "same hash, L-nodes": "put(0, 1) | put(1, 2) | get(0) | keys: lists",
    "same key": "put(0, 1) | put(0, 2) | get(0)",
}

_MUTANT = """
import sys, time
from latchfree_lincheck.explore import explore
from latchfree_lincheck.mutants import MUTANTS
began = time.perf_counter()
mutant = MUTANTS[sys.argv[1]]
result = explore("ctrie", mutant=mutant.id, seed=1, timeout=60, **(getattr(mutant, "explore", None) or {}))
seconds = time.perf_counter() - began
failure = result.failure
if failure is None:
    print(f"{mutant.id}: {result.verdict} after {result.schedules:,} schedules, {seconds:.1f} s")
else:
    print(f"{mutant.id}: {failure.kind}, {result.schedules:,} schedules in {result.seconds:.2f} s ({seconds:.1f} s in "
          f"all), {failure.context_switches} context switches: {failure.scenario}")
"""


def rate(result: Exploration) -> str:
    """Schedules a second, those cut short not counted."""
    each = result.seconds / result.schedules
    return f"{1 / each:>9,.0f} schedules/s, {1e6 * each:6.1f} us each"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row of the first table")
    parser.add_argument("--mutants", action="store_true", help="also each code mutant, in a process of its own")
    options = parser.parse_args()
    print("three threads, two operations each, judging included")
    for name, scenario in THREE_BY_TWO.items():
        for strategy in ("random", "pct", "dpor"):
            result = explore("ctrie", scenario=scenario, strategy=strategy, schedules=1 << 40, timeout=options.seconds)
            accesses = result.steps / max(1, result.schedules + result.slept)
            print(f"  {name:18} {strategy:7} {rate(result)}, {accesses:4.0f} accesses, {result.verdict}", flush=True)
    print("put | put | get of colliding keys, exhaustively")
    for name, scenario in EXHAUSTIVE.items():
        result = explore("ctrie", scenario=scenario)
        print(
            f"  {name:24} {result.seconds:7.3f} s, {result.schedules:,} schedules for "
            f"{'at least ' if result.at_least else ''}{result.interleavings:.3g} "
            f"interleavings, {result.verdict}",
            flush=True,
        )
    if options.mutants:
        from latchfree_lincheck.mutants import MUTANTS

        print("each code mutant, in a fresh process")
        for mutant in MUTANTS:
            began = time.perf_counter()
            run = subprocess.run([sys.executable, "-c", _MUTANT, mutant], capture_output=True, text=True, check=False)
            print(
                f"  {run.stdout.strip() or run.stderr.strip()[-200:]}  [{time.perf_counter() - began:.1f} s]",
                flush=True,
            )


if __name__ == "__main__":
    main()
