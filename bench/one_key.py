"""One key a call, with integers, strings and objects, beside a dict and cereggii: ``python bench/one_key.py``.

Each round puts every key into the empty maps, gets, asks whether the key is there, updates and removes, map by map, so
that all maps see the same machine. Before the first round the maps are filled once, and each round gets every key
twice: `read` is by the keys themselves, `fresh` by equal keys that were made just before, as those of a message are.
Prints nanoseconds of processor time an operation, the loop included, the smallest of all rounds; in brackets,
latchfree's figure divided by the peer's.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, MutableMapping, Sequence
from time import thread_time_ns
from typing import Any

from latchfree import Ctrie
from measuring.workload import random_keys

Loops = dict[str, Callable[[], None]]
Figures = dict[str, dict[str, float]]
OPERATIONS = ("put", "get", "in", "update", "remove")
READS = ("read", "fresh")


def copied(key: Any) -> Any:
    """An equal key that is another object."""
    if isinstance(key, tuple):
        return tuple(map(copied, key))
    if isinstance(key, str):
        return key.encode().decode()
    return bytes(bytearray(key)) if isinstance(key, bytes) else int(str(key))


def loops(mapping: MutableMapping[Any, int], keys: Sequence[Any]) -> Loops:
    """The operations on all keys."""

    def put() -> None:
        for key in keys:
            mapping[key] = 5

    def get() -> None:
        for key in keys:
            mapping[key]

    def contains() -> None:
        for key in keys:
            key in mapping  # noqa: B015 -- it is what is measured

    def remove() -> None:
        for key in keys:
            del mapping[key]

    return {"put": put, "get": get, "in": contains, "update": put, "remove": remove}


def measured(maps: dict[str, MutableMapping[Any, int]], keys: Sequence[Any], rounds: int) -> Figures:
    """Nanoseconds by map and operation; cereggii has no ``in`` of its own."""
    best: Figures = {name: dict.fromkeys((*OPERATIONS, *READS), float("inf")) for name in maps}

    def timed(name: str, operation: str, step: Callable[[], None]) -> None:
        start = thread_time_ns()
        step()
        best[name][operation] = min(best[name][operation], (thread_time_ns() - start) / len(keys))

    steps = {name: loops(mapping, keys) for name, mapping in maps.items()}
    gc.disable()
    try:
        for name in maps:
            steps[name]["put"]()
        for _ in range(rounds):
            for name, mapping in maps.items():
                timed(name, "read", steps[name]["get"])
                timed(name, "fresh", loops(mapping, [copied(key) for key in keys])["get"])
        for name in maps:
            steps[name]["remove"]()
        for _ in range(rounds):
            for name in maps:
                for operation, step in steps[name].items():
                    if (name, operation) != ("cereggii", "in"):
                        timed(name, operation, step)
    finally:
        gc.enable()
    return best


def show(what: str, count: int, best: Figures) -> None:
    """Print a table."""
    print(f"\n{what} keys, {count:,}: ns of processor time an operation")
    print(f"{'operation':10}" + "".join(f"{name:>18}" for name in best))
    for operation in (*OPERATIONS, *READS):
        mine = best["latchfree"][operation]
        cells = [f"{mine:.1f}"]
        for name in list(best)[1:]:
            theirs = best[name][operation]
            cells.append("-" if theirs == float("inf") else f"{theirs:.1f} ({mine / theirs:.2f}x)")
        print(f"{operation:10}" + "".join(f"{cell:>18}" for cell in cells))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/one_key.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=int, default=10_000, metavar="N", help="how many (default: 10000)")
    parser.add_argument("--rounds", type=int, default=25, metavar="N", help="default: 25")
    given = parser.parse_args(argv)
    try:
        from cereggii import AtomicDict  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        AtomicDict = None
        print("skipped cereggii: not installed; pip install 'latchfree[bench]'")
    numbers = random_keys(given.keys, 1).tolist()
    texts = [f"user/{number % 10**9}/name" for number in numbers]
    groups: tuple[tuple[str, type | None, list[Any]], ...] = (
        ("int", int, numbers),
        ("str", str, texts),
        ("bytes", bytes, [text.encode() for text in texts]),
        # by reference: no codec is named
        ("objects: int", None, numbers),
        ("objects: str", None, texts),
        ("objects: tuple", None, [("user", number) for number in numbers]),
    )
    for what, kind, keys in groups:
        keys = list(dict.fromkeys(keys))
        mine: Ctrie[Any, Any] = Ctrie() if kind is None else Ctrie(keys=kind, values=int)
        maps: dict[str, Any] = {"latchfree": mine, "dict": {}}
        if AtomicDict is not None:
            maps["cereggii"] = AtomicDict()
        best = measured(maps, keys, given.rounds)
        show(what, len(keys), best)
    return 0


if __name__ == "__main__":
    sys.exit(main())
