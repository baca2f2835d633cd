"""What do puts and gets cost while snapshots are held open? ``python bench/held.py``.

A map is filled, then snapshots are taken, with puts over one key of a hundred before each, and held. Then every key is
got, and put four times over: the first time a put makes new nodes on each path that a snapshot shares, later it does
not. A map that is changed as a whole, and one that is copied, stand beside it. In the end the map must hold what was
put, and each snapshot show what it showed when it was taken; a tenth of its keys are looked at.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from measuring.options import names_of, number, numbers_of
from measuring.timing import Time, time_once
from measuring.workload import random_keys
from peers import Unavailable
from peers.base import Ints
from peers.holding import HOLDING, Held

#: Of so many keys one is put before a snapshot.
_ONE_OF: Final = 100
_LATER: Final = 3
#: Of so many keys one is looked at in a snapshot, of the next snapshot another.
_LOOKED_AT: Final = 10
STEPS: Final = ("snapshot", "get", "first put", "later put")


class Wrong(Exception):
    """A map or a snapshot shows something else than was put there."""


class Row(NamedTuple):
    """Processor time of each step, in nanoseconds an operation, with some snapshots held."""

    peer: str
    snapshots: int
    times: dict[str, Time]


def _expect(what: str, held: Held, source: object, keys: Ints, values: Ints) -> None:
    if list(held.look(source, keys.tolist())) != values.tolist():
        raise Wrong(f"{what} does not show what was put")


def once(peer: str, snapshots: int, keys: Ints, seed: int) -> dict[str, Time]:
    """Fill a fresh map, hold snapshots, time every step, and look at everything."""
    held = HOLDING[peer]()
    rng = np.random.default_rng(seed)
    values = keys ^ 1
    held.put(held.convert(keys), held.convert(values))
    taken: list[object] = []
    shown: list[Ints] = []
    times: dict[str, Time] = {}
    for turn in range(snapshots):
        some = rng.choice(len(keys), max(1, len(keys) // _ONE_OF), replace=False)
        values[some] = turn
        held.put(held.convert(keys[some]), held.convert(values[some]))
        times["snapshot"] = time_once(lambda: taken.append(held.take()), 1).least(times.get("snapshot", _NEVER))
        shown.append(values.copy())
    these = held.convert(keys)
    times["get"] = time_once(lambda: held.get(these), len(keys))
    for turn in range(1 + _LATER):
        values = keys ^ (2 + turn)
        those = held.convert(values)
        name = STEPS[3] if turn else STEPS[2]
        times[name] = time_once(partial(held.put, these, those), len(keys)).least(times.get(name, _NEVER))
    _expect(f"{peer}: the map", held, held.map(), keys, values)
    for place, (snapshot, before) in enumerate(zip(taken, shown, strict=True)):
        some = slice(place % _LOOKED_AT, None, _LOOKED_AT)
        _expect(f"{peer}: snapshot {place} of {snapshots}", held, snapshot, keys[some], before[some])
    return times


_NEVER: Final = Time(float("inf"), float("inf"))


def rows(peer: str, numbers: Sequence[int], keys: int, rounds: int, seed: int) -> Iterator[Row]:
    """Measure a peer with each number of snapshots; the smallest of some rounds stands."""
    ints = random_keys(keys, seed)
    for snapshots in numbers:
        best: dict[str, Time] = {}
        for turn in range(rounds):
            for step, time in once(peer, snapshots, ints, seed + turn).items():
                best[step] = time.least(best.get(step, _NEVER))
        yield Row(peer, snapshots, best)


def show(found: Sequence[Row]) -> None:
    """Print a table: a row for each map and number of snapshots."""
    print(f"{'':<22}{'held':>6}" + "".join(f"{step:>14}" for step in STEPS))
    for peer, snapshots, times in found:
        cells = [f"{times[step].cpu:,.0f}" if step in times else "-" for step in STEPS]
        print(f"{peer:<22}{snapshots:>6}" + "".join(f"{cell:>14}" for cell in cells))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/held.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=number(100, 1_000_000), default=100_000, metavar="N", help="default: 100000")
    parser.add_argument("--snapshots", type=numbers_of(0, 100), default=(0, 1, 10, 100), metavar="N[,N]")
    parser.add_argument("--rounds", type=number(1, 100), default=3, metavar="N", help="the best counts (default: 3)")
    parser.add_argument("--only", type=names_of(HOLDING), default=tuple(HOLDING), metavar="NAMES")
    parser.add_argument("--seed", type=number(0, 1 << 32), default=1, metavar="N", help="of the keys (default: 1)")
    given = parser.parse_args(argv)
    found: list[Row] = []
    print(f"{given.keys:,} keys: ns of processor time an operation, 1 thread, {given.rounds} rounds, seed {given.seed}")
    for peer in given.only:
        print(f"measuring {peer} ...", file=sys.stderr)
        try:
            found += rows(peer, given.snapshots, given.keys, given.rounds, given.seed)
        except Unavailable as reason:
            print(f"skipped {peer}: {reason}")
    show(found)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
