"""How many schedules a second the explorer runs, how fast it covers everything, and how fast it finds each mutant.

    python bench/explore.py [--seconds S] [--mutants]

Times are of running and judging; compiling comes before and is shown for mutants, which are run in processes of
their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

from latchfree_evidence.exploring import explore
from latchfree_explore import Exploration

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
import json, sys
from latchfree_evidence.exploring import explore
from latchfree_evidence.mutants import MUTANTS
mutant = MUTANTS[sys.argv[1]]
result = explore(mutant.target, mutant=sys.argv[1], seed=1, timeout=60, **mutant.explore)
failure = result.failure
print(json.dumps({
    "schedules": result.schedules, "seconds": result.seconds, "kind": failure and failure.kind,
    "switches": failure and failure.context_switches, "scenario": failure and str(failure.scenario),
}))
"""
_MOST_SECONDS = 60.0
_MORE_SWITCHES = 3


def rate(result: Exploration) -> str:
    """Schedules a second, those cut short not counted."""
    each = result.seconds / result.schedules
    return f"{1 / each:>9,.0f} schedules/s, {1e6 * each:6.1f} us each"


def main() -> int:
    """Run the benchmark; returns the exit code."""
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
    return mutants() if options.mutants else 0


def mutants() -> int:
    """Look for each code mutant in a fresh process; return 1 if one is missed, else 0."""
    from latchfree_evidence.mutants import MUTANTS

    print(
        f"each code mutant, in a fresh process: asked <= {_MOST_SECONDS:g} s, "
        f"at most {_MORE_SWITCHES} context switches more than known"
    )
    missed = 0
    for name, mutant in MUTANTS.items():
        if mutant.explore is None:
            print(f"  {name:4} not applicable: the explorer cannot show it", flush=True)
            continue
        began = time.perf_counter()
        run = subprocess.run([sys.executable, "-c", _MUTANT, name], capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
        found = json.loads(run.stdout) if run.returncode == 0 else {}
        good = (
            found.get("kind") is not None
            and found["seconds"] <= _MOST_SECONDS
            and found["switches"] <= mutant.switches + _MORE_SWITCHES
        )
        missed += not good
        text = run.stderr.strip()[-200:]
        if found:
            text = (
                f"{found['kind'] or 'nothing wrong'}, {found['schedules']:,} schedules in {found['seconds']:.2f} s "
                f"({seconds:.0f} s with compiling), {found['switches']} context switches, known {mutant.switches}: "
                f"{found['scenario']}"
            )
        print(f"  {name:4} {'ok' if good else 'MISSED':6} {text}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
