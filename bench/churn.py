"""Does memory stay bounded while everything happens at once? ``python bench/churn.py --seconds 600``.

Four threads put, get and remove random keys, in bulk and one by one, while one thread opens and closes snapshots (some
read, some iterated, some writable) so that ten are open at any time. A value holds its key, so that whoever reads a
node that was freed too early notices; a snapshot must give the same contents at its end as at its beginning.

Before that, the snapshots are made to hold the most that they can, so that a rise afterwards is no record of chance.
Resident memory and the arena are looked at every second. At the end, with no snapshots left, every word of the arena
must be accounted for: what the trie reaches is exactly what is not free. A leak out of free blocks is found there.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latchfree import Ctrie
from latchfree_fsck.reach import Reach
from measuring.soak import Figure, show

KEYS = 100_000
THREADS = 4
SNAPSHOTS = 10
_LARGEST_BATCH = 4096
_SINGLES = 200
_STAMP_BITS = 20
_COLLECTIONS = 4
_DENSITIES = 8


class Sample(NamedTuple):
    """What was seen at a time: seconds, bytes, operations so far."""

    at: float
    resident: int
    used: int
    allocated: int
    operations: int


class Wrong(Exception):
    """Something was read that nobody wrote there."""


def resident_bytes() -> int:
    """Bytes of physical memory of this process."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("/proc/self/smaps_rollup has no Rss")


def check_value(key: int, value: int) -> None:
    if value >> _STAMP_BITS != key:
        raise Wrong(f"key {key} has value {value}, which was written under key {value >> _STAMP_BITS}")


def pairs_of(snapshot: Any) -> Any:
    """The items of a snapshot, in an array: objects would leave holes in the memory that is being watched."""
    return np.fromiter((word for pair in snapshot.items() for word in pair), np.int64).reshape(-1, 2)


class Churn:
    """A trie under load.

    Parameters
    ----------
    keys : int
        Keys are drawn from this many.
    snapshots : int
        How many are kept open.
    seed : int
    """

    def __init__(self, keys: int, snapshots: int, seed: int) -> None:
        self.trie: Ctrie[int, int] = Ctrie(keys=int, values=int)
        self.keys = keys
        self.open = snapshots
        self.seed = seed
        self.operations = [0] * THREADS
        self.snapshots = 0
        self.stop = threading.Event()
        self.failures: list[BaseException] = []

    def fill(self) -> None:
        """Hold the most that the snapshots can hold, so that what comes after needs no more.

        Between two snapshots every node is renewed: each snapshot then keeps a whole trie of its own. A trie that
        lacks an eighth of the keys has smaller nodes than a full one, and a free block serves nodes of its size.
        """
        rng = np.random.default_rng(self.seed)
        everything = np.arange(self.keys, dtype=np.int64)
        for present in range(1, _DENSITIES + 1):
            chosen = rng.permutation(everything)[: self.keys * present // _DENSITIES]
            held = []
            for _ in range(self.open + 1):
                self.trie.clear()
                self.trie.put_many(chosen, chosen << _STAMP_BITS)
                held.append(self.trie.readonly_snapshot())
            for snapshot in held:
                snapshot.close()

    def run(self, seconds: float, period: float) -> list[Sample]:
        """Let it run, looking every `period` seconds."""
        works = [self._worker(number) for number in range(THREADS)] + [self._hold_snapshots]
        threads = [threading.Thread(target=self._guard, args=(work,)) for work in works]
        began = time.perf_counter()
        samples = []
        for thread in threads:
            thread.start()
        while time.perf_counter() - began < seconds and not self.stop.wait(period):
            arena = self.trie.arena
            now = time.perf_counter() - began
            samples.append(Sample(now, resident_bytes(), arena.used, arena.allocated, sum(self.operations)))
        self.stop.set()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
        return samples

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:
            self.failures.append(failure)
            self.stop.set()

    # those who write -------------------------------------------------------------------------------------------

    def _worker(self, number: int) -> Callable[[], None]:
        rng = np.random.default_rng((self.seed, number))
        steps = (self._put_many, self._remove_many, self._get_many, self._singles)

        def work() -> None:
            while not self.stop.is_set():
                step = steps[rng.integers(len(steps))]
                self.operations[number] += step(rng)

        return work

    def _batch(self, rng: np.random.Generator) -> Any:
        return rng.integers(0, self.keys, rng.integers(1, _LARGEST_BATCH), dtype=np.int64)

    def _put_many(self, rng: np.random.Generator) -> int:
        keys = self._batch(rng)
        self.trie.put_many(keys, keys << _STAMP_BITS | rng.integers(0, 1 << _STAMP_BITS, len(keys)))
        return len(keys)

    def _remove_many(self, rng: np.random.Generator) -> int:
        keys = self._batch(rng)
        self.trie.remove_many(keys)
        return len(keys)

    def _get_many(self, rng: np.random.Generator) -> int:
        keys = self._batch(rng)
        values = np.ma.asarray(self.trie.get_many(keys))
        for key, value in zip(keys[~np.ma.getmaskarray(values)].tolist(), values.compressed().tolist(), strict=True):
            check_value(key, value)
        return len(keys)

    def _singles(self, rng: np.random.Generator) -> int:
        keys = rng.integers(0, self.keys, _SINGLES).tolist()
        kinds = rng.integers(0, 3, _SINGLES).tolist()
        for key, kind in zip(keys, kinds, strict=True):
            if kind == 0:
                self.trie[key] = key << _STAMP_BITS | kind
            else:
                value = self.trie.get(key) if kind == 1 else self.trie.pop(key, None)
                if value is not None:
                    check_value(key, value)
        return _SINGLES

    # and who keeps snapshots -----------------------------------------------------------------------------------

    def _hold_snapshots(self) -> None:
        rng = random.Random(self.seed)
        held = [_Held(self.trie, rng) for _ in range(self.open)]
        while not self.stop.is_set():
            place = rng.randrange(self.open)
            held[place].finish()
            held[place] = _Held(self.trie, rng)
            self.snapshots += 1
            self.stop.wait(rng.random() * 0.02)
        for each in held:
            each.finish()


class _Held:
    """An open snapshot, and what it showed when it was opened."""

    def __init__(self, trie: Ctrie[int, int], rng: random.Random) -> None:
        self.rng = rng
        self.writable = rng.random() < 0.2
        self.snapshot: Any = trie.snapshot() if self.writable else trie.readonly_snapshot()
        self.iterator = None
        self.contents: Any = None
        kind = rng.randrange(3)
        if kind == 0:
            self.contents = pairs_of(self.snapshot)
        elif kind == 1:
            self.iterator = iter(self.snapshot.items())
            self._advance(rng.randrange(1000))

    def _advance(self, most: int) -> None:
        for _ in range(most):
            pair = next(self.iterator, None) if self.iterator is not None else None
            if pair is None:
                return
            check_value(*pair)

    def finish(self) -> None:
        """Look once more, and close."""
        self._advance(1000)
        if self.contents is not None:
            if not np.array_equal(pairs_of(self.snapshot), self.contents):
                raise Wrong("a snapshot changed while it was open")
            for key, value in self.contents[self.contents[:, 1] >> _STAMP_BITS != self.contents[:, 0]].tolist():
                check_value(key, value)
        if self.writable:
            self._write()
        elif self.rng.random() < 0.5:
            self.snapshot.close()
        self.snapshot = self.iterator = None

    def _write(self) -> None:
        if self.contents is None:
            self.snapshot.clear()
            return
        for key in range(100):
            self.snapshot[key] = key << _STAMP_BITS
        for key in self.contents[:100, 0].tolist():
            del self.snapshot[key]


def account(trie: Ctrie[int, int]) -> tuple[int, int, int]:
    """Words in use, words that the trie reaches, and words in limbo, of a trie that nobody uses."""
    for _ in range(_COLLECTIONS):
        trie.arena.collect()
    counted = trie.arena.census()
    reach = Reach(trie.arena.base)
    reach.add(trie._store.trie)
    return counted.nodes, reach.words, counted.limbo


def growth(first: list[int], last: list[int]) -> float:
    """Percent by which the median of `last` exceeds that of `first`."""
    return 100 * (statistics.median(last) / statistics.median(first) - 1)


def figures(churn: Churn, samples: list[Sample]) -> list[Figure]:
    """What was asked of the run, and what it gave."""
    middle, width = len(samples) // 2, max(1, len(samples) // 20)
    before, after = samples[middle : middle + width], samples[-width:]
    in_use, reached, limbo = account(churn.trie)
    resident = growth([sample.resident for sample in before], [sample.resident for sample in after])
    # The most that was ever in use at once: it never falls, and rises ever more rarely.
    used = growth([sample.used for sample in before], [sample.used for sample in after])
    print(f"arena.used, which never falls, rose by {used:.2f} % in the second half")
    return [
        Figure("growth of resident memory, second half", resident, 1, "%"),
        Figure("words in use that the trie does not reach", in_use - reached, 0, ""),
        Figure("words in limbo at the end", limbo, 0, ""),
    ]


def warm_up(samples: list[Sample]) -> float:
    """Seconds until arena.used came within a hundredth of what it was at the end."""
    return next(sample.at for sample in samples if sample.used >= 0.99 * samples[-1].used)


def main() -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--period", type=float, default=1, help="seconds between two looks at memory (default: 1)")
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--snapshots", type=int, default=SNAPSHOTS, help="how many are open (default: 10)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.snapshots < 1 or given.keys < 1 or given.period > given.seconds:
        parser.error("--snapshots and --keys must be at least 1, and --period at most --seconds")
    churn = Churn(given.keys, given.snapshots, given.seed)
    churn.fill()
    samples = churn.run(given.seconds, given.period)
    what = f"{THREADS} threads, {given.keys:,} keys, {given.snapshots} snapshots open"
    print(f"{what}, {given.seconds:.0f} s, seed {given.seed}")
    print(f"{'seconds':>8}{'resident MB':>13}{'used MB':>10}{'allocated MB':>14}{'million operations':>20}")
    for sample in samples[:: max(1, len(samples) // 20)]:
        sizes = f"{sample.resident / 1e6:>13.1f}{sample.used / 1e6:>10.1f}{sample.allocated / 1e6:>14.1f}"
        print(f"{sample.at:>8.0f}{sizes}{sample.operations / 1e6:>20.1f}")
    done = samples[-1]
    print(f"operations a second    {done.operations / done.at:,.0f}")
    print(f"snapshots              {churn.snapshots:,}")
    print(f"end of the warm-up     {warm_up(samples):.0f} s")
    return show(figures(churn, samples))


if __name__ == "__main__":
    sys.exit(main())
