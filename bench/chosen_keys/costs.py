"""What do keys cost that somebody has chosen to have one hash? ``python bench/chosen_keys``.

Our hashes are fast and no secret: strings of one hash are found in a moment, as many as one wants. Keys of one hash are
in one list of the map, so that a get looks at half of them, and a put copies their list. Beside them, as many keys of
the same length that nobody has chosen. Then what sketches of two seeds say of such strings: a seed is mixed in after
the bytes were hashed, so the strings have one hash with any seed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from chosen import of_index, of_trie, spread, strings
from rich.console import Console
from rich.table import Table

from latchfree import Bloom, CountMin, Ctrie, HyperLogLog
from latchfree.topics import ConcurrentTrie, MaskIndex


def _map(made: Any, keys: list[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    def put() -> None:
        for key in keys:
            made[key] = 1

    def get() -> None:
        for key in keys:
            made[key]

    return put, get


def _trie(keys: list[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    made: ConcurrentTrie[int] = ConcurrentTrie("mqtt")

    def put() -> None:
        for k, key in enumerate(keys):
            made.subscribe(key, k)

    def get() -> None:
        for key in keys:
            made.match(key)

    return put, get


def _index(keys: list[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    made: list[MaskIndex[int]] = []

    def put() -> None:
        made.append(MaskIndex.build(keys, range(len(keys)), "mqtt"))

    def get() -> None:
        for key in keys:
            made[0].match(key)

    return put, get


#: What is measured: how it is made, and what its keys of one hash are.
KINDS: Final[dict[str, tuple[Callable[[list[str]], Any], Callable[[int], list[str]]]]] = {
    "dict": (lambda keys: _map({}, keys), strings),
    "Ctrie of objects": (lambda keys: _map(Ctrie(), keys), strings),
    "Ctrie of str": (lambda keys: _map(Ctrie(keys=str, values=int), keys), strings),
    "ConcurrentTrie": (_trie, of_trie),
    "MaskIndex": (_index, of_index),
}


def measured(make: Callable[[list[str]], Any], keys: list[str]) -> tuple[float, float]:
    """Return microseconds of a put and of a get."""
    for some in (keys[:2], keys):  # compiled by the first
        times = []
        for call in make(some):
            begun = time.perf_counter()
            call()
            times.append((time.perf_counter() - begun) / len(some) * 1e6)
    return times[0], times[1]


def answers(keys: list[str], seed: int) -> tuple[int, int, bool]:
    """Return what sketches say: how many are different; how often one came that did not; whether it may have come."""
    *those, other = keys
    different, counts, filter_ = HyperLogLog(seed=seed), CountMin(seed=seed), Bloom(len(keys), seed=seed)
    for sketch in (different, counts, filter_):
        sketch.add_many(those)
    return round(different.estimate()), counts.estimate(other), other in filter_


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench/chosen_keys", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=int, nargs="+", default=[1000, 4000, 16_000], metavar="N", help="at least 2")
    parser.add_argument("--seed", type=int, default=20_261_128, metavar="N", help="of the second sketches")
    given = parser.parse_args(argv)
    console = Console()
    if not console.is_terminal:
        console.width = 130
    table = Table("microseconds", "keys", "put, any keys", "put, one hash", "get, any keys", "get, one hash")
    for name, (make, chosen) in KINDS.items():
        keys = chosen(max(given.keys))
        for many in given.keys:
            print(f"measuring {name}, {many:,} keys ...", file=sys.stderr)
            any_put, any_get = measured(make, spread(keys[:many]))
            put, get = measured(make, keys[:many])
            table.add_row(name, f"{many:,}", *(f"{each:,.2f}" for each in (any_put, put, any_get, get)))
    console.print(table)
    many = max(given.keys)
    for seed in (0, given.seed):
        different, often, there = answers(strings(many + 1), seed)
        print(
            f"seed {seed}: of {many:,} strings of one hash, HyperLogLog says {different:,}; "
            f"of one that never came, CountMin says {often:,} and Bloom says {'there' if there else 'not there'}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
