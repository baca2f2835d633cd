"""What does giving memory back cost? ``python bench/reclamation.py``.

The same operations on this build and on one that never frees anything: its pins and retirements are empty
functions, replaced before they are compiled. Both are compiled for the run. Each repeat runs both builds one after
the other, in processes of their own; the smallest figure of each stands. Beside it: how many bytes a key takes after a
fresh fill.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from measuring.soak import Figure, show

BUILDS = ("reclaiming", "leaking")
CALLS = ("single", "bulk")
SIZES = (10_000, 300_000)
#: Enough for the memory in use to go round several times: a long-lived map is what counts.
_ROUNDS = 40
_OPERATIONS = 1_200_000
_TIMEOUT = 600

#: What the leaking build does without, by module.
_EMPTIED = {
    "latchfree.arena.kernels.epochs": ("pin", "unpin", "retire", "defer", "drain_a_few"),
    "latchfree.ctrie.kernels.retirement": (
        "begin_retiring",
        "retire_node",
        "finish_retiring",
        "retire_pair",
        "retire_subtree",
    ),
}
_COMPILED = ("latchfree.arena.", "latchfree.ctrie.")


def vary(build: str) -> None:
    """Have this process compile what it calls: where code is changed, maps have no shortcut for single calls.

    So neither build has it, and what is compared differs in nothing but the functions that `leak` replaces.
    """
    from latchfree import jit

    jit.set_variant(build, _COMPILED)


def leak() -> None:
    """Make this process one that never frees a node."""
    for module in ("latchfree.arena.arena", "latchfree.ctrie.mapping"):
        import_module(module)  # loads everything that holds a reference
    emptied = import_module("measuring.emptied")
    for home, names in _EMPTIED.items():
        for name in names:
            original = getattr(sys.modules[home], name)
            for loaded, module in list(sys.modules.items()):
                if loaded.startswith("latchfree.") and getattr(module, name, None) is original:
                    setattr(module, name, getattr(emptied, name))


def measure(build: str, sizes: Sequence[int], seed: int) -> dict[str, Any]:
    """Nanoseconds of processor time an operation, in this process; and bytes of arena that were used."""
    vary(build)
    if build == "leaking":
        leak()
    from measuring.timing import least, time_round
    from measuring.workload import random_keys
    from peers.base import Plan
    from peers.latchfree_ctrie import new_arena, on

    times: dict[str, float] = {}
    used = 0
    for call in CALLS:
        for size in sizes:
            rounds = max(3, min(_ROUNDS, _OPERATIONS // size))
            plan = Plan(call=call, keys=size, threads=1, writes=3 * size * (rounds + 1), snapshots=0)  # type: ignore[arg-type]
            arena = new_arena(plan)
            subject = on(arena, plan)
            keys = random_keys(size, seed)
            these, first, second = (subject.convert(ints) for ints in (keys, keys ^ 1, keys ^ 2))
            steps = {
                "put": lambda subject=subject, these=these, first=first: subject.put(these, first),
                "get": lambda subject=subject, these=these: subject.get(these),
                "update": lambda subject=subject, these=these, second=second: subject.put(these, second),
                "remove": lambda subject=subject, these=these: subject.remove(these),
            }
            for step, time in least(time_round([steps], size, 1) for _ in range(rounds)).items():
                times[f"{call} {size} {step}"] = time.cpu
            used += arena.used
    return {"times": times, "used": used}


def bytes_per_key(keys: int, seed: int) -> tuple[float, float]:
    """Bytes of arena taken and bytes in nodes, a key, after putting them into an empty map."""
    from latchfree import Arena, Ctrie
    from measuring.workload import random_keys

    trie: Ctrie[int, int] = Ctrie(keys=int, values=int, arena=Arena.anonymous(1 << 30))
    used, allocated = trie.arena.used, trie.arena.allocated
    ints = random_keys(keys, seed)
    trie.put_many(ints, ints)
    for _ in range(4):
        trie.arena.collect()
    return (trie.arena.used - used) / keys, (trie.arena.allocated - allocated) / keys


def compare(sizes: Sequence[int], repeats: int, seed: int) -> dict[str, dict[str, Any]]:
    """The smallest figures of both builds, in turns."""
    found: dict[str, dict[str, Any]] = {}
    for repeat in range(repeats):
        for build in BUILDS if repeat % 2 == 0 else BUILDS[::-1]:
            options = ["--build", build, "--keys", ",".join(map(str, sizes)), "--seed", str(seed)]
            command = [sys.executable, str(Path(__file__).resolve()), *options]
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"the {build} build failed: {done.stderr}")
            one = json.loads(done.stdout)
            best = found.setdefault(build, one)
            for name, time in one["times"].items():
                best["times"][name] = min(best["times"][name], time)
    return found


def report(found: dict[str, dict[str, Any]], sizes: Sequence[int], seed: int) -> int:
    """Print the figures; returns the exit code."""
    ours, theirs = (found[build] for build in BUILDS)
    print(f"arena used in all: reclaiming {ours['used'] / 1e6:,.0f} MB, leaking {theirs['used'] / 1e6:,.0f} MB")
    print(f"{'ns an operation':<32}{'reclaiming':>12}{'leaking':>10}{'more':>8}")
    for name, time in ours["times"].items():
        other = theirs["times"][name]
        print(f"{name:<32}{time:>12.1f}{other:>10.1f}{time / other - 1:>8.0%}")
    figures = []
    for call in CALLS:
        for size in sizes:
            here, there = (
                {step: one["times"][f"{call} {size} {step}"] for step in ("put", "get", "remove")}
                for one in (ours, theirs)
            )
            mix = (here["put"] + here["remove"]) / (there["put"] + there["remove"])
            figures.append(Figure(f"{call}, {size:,} keys: put and remove, more", 100 * (mix - 1), 25, "%"))
            figures.append(Figure(f"{call}, {size:,} keys: get, more", 100 * (here["get"] / there["get"] - 1), 10, "%"))
    taken, in_nodes = bytes_per_key(max(sizes), seed)
    figures.append(Figure(f"{max(sizes):,} keys: arena.used, bytes a key", taken, 64))
    figures.append(Figure(f"{max(sizes):,} keys: arena.allocated, bytes a key", in_nodes, 64))
    return show(figures)


def main() -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each build (default: 5)")
    parser.add_argument("--keys", default=",".join(map(str, SIZES)), metavar="N[,N]")
    parser.add_argument("--seed", type=int, default=1, help="of the random keys (default: 1)")
    parser.add_argument("--build", choices=BUILDS, help="measure this build only, once, and print JSON")
    given = parser.parse_args()
    sizes = [int(size) for size in given.keys.split(",")]
    if given.build:
        print(json.dumps(measure(given.build, sizes, given.seed)))
        return 0
    return report(compare(sizes, given.repeats, given.seed), sizes, given.seed)


if __name__ == "__main__":
    sys.exit(main())
