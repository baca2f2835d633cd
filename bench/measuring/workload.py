"""What every map goes through, in the same order, and the rows that come out.

For each kind of call, number of keys and number of threads a fresh map is made. Rounds of put (into the empty
map), get, update (put over present keys), remove (of all keys) are timed as `timing` says. Then the map is filled
once more and iterated over, and snapshots are taken, by one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from measuring.timing import Time, least, time_once, time_round, usual
from peers.base import Call, Ints, Plan, Subject

OPERATIONS = ("put", "get", "update", "remove")
SNAPSHOT = "snapshot"
WRITABLE = "writable snapshot"
SNAPSHOT_AND_PUT = "snapshot and put"
PUT_AFTER = "put after snapshot"
ITERATE = "iterate"

CALLS: tuple[Call, ...] = ("single", "bulk")
THREADS = (1, 2)

#: Operations per step that keep two threads concurrent for milliseconds.
_CONCURRENT_OPERATIONS = 40_000
PASSES = 5
SNAPSHOTS = 2000
_COPIES = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """A run: sizes, how many rounds a size gets, seed, whether memory is left untouched, kinds of calls."""

    sizes: tuple[int, ...]
    rounds: dict[int, int]
    seed: int
    cold: bool
    calls: tuple[Call, ...] = CALLS

    def cycles(self, keys: int, threads: int) -> int:
        """How often a thread goes through its steps in a round."""
        return 1 if threads == 1 else max(1, _CONCURRENT_OPERATIONS // keys)

    def rounds_of(self, keys: int, threads: int) -> int:
        """How many rounds are run."""
        return max(3, self.rounds[keys] // self.cycles(keys, threads))


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds per operation; see `timing` for `cpu` and `wall`.

    `overlap` is the median share of a round in which all its threads were running.
    """

    peer: str
    call: str
    keys: int
    threads: int
    operation: str
    cpu: float
    wall: float
    overlap: float = 1.0


def random_keys(count: int, seed: int) -> Ints:
    """Different random integers of 62 bits."""
    generator = np.random.default_rng(seed)
    keys = np.empty(0, np.int64)
    while len(keys) < count:
        more = generator.integers(0, 1 << 62, count, dtype=np.int64)
        keys = np.unique(np.concatenate([keys, more]))
    generator.shuffle(keys)
    return keys[:count].copy()


def rows(peer: str, make: Callable[[Plan], Subject | None], settings: Settings) -> Iterator[Row]:
    """Drive one peer's maps through everything."""
    for call in settings.calls:
        for keys in settings.sizes:
            for threads in THREADS:
                cycles, rounds = settings.cycles(keys, threads), settings.rounds_of(keys, threads)
                subject = make(
                    Plan(
                        call=call,
                        keys=keys,
                        threads=threads,
                        writes=3 * keys * (cycles * rounds + 1),
                        snapshots=PASSES * SNAPSHOTS if threads == 1 else 0,
                        cold=settings.cold,
                    )
                )
                if subject is None:
                    continue
                drive = _Drive(peer, subject, call, random_keys(keys, settings.seed), threads)
                try:
                    yield from drive.rounds(rounds, cycles)
                    if threads == 1:
                        yield from drive.iteration()
                        yield from drive.snapshots()
                finally:
                    subject.close()


class _Drive:
    """One fresh map under way."""

    def __init__(self, peer: str, subject: Subject, call: Call, keys: Ints, threads: int) -> None:
        self.peer = peer
        self.subject = subject
        self.call = call
        self.size = len(keys)
        self.threads = threads
        self.keys = keys
        self.shares = [self._steps(keys[k::threads]) for k in range(threads)]

    def _steps(self, keys: Ints) -> dict[str, Callable[[], object]]:
        subject = self.subject
        these, first, second = (subject.convert(ints) for ints in (keys, keys ^ 1, keys ^ 2))
        return {
            "put": lambda: subject.put(these, first),
            "get": lambda: subject.get(these),
            "update": lambda: subject.put(these, second),
            "remove": lambda: subject.remove(these),
        }

    def _row(self, operation: str, time: Time, overlap: float = 1.0) -> Row:
        return Row(self.peer, self.call, self.size, self.threads, operation, time.cpu, time.wall, overlap)

    def _expect(self, entries: int) -> None:
        found = self.subject.count()
        if found != entries:
            raise RuntimeError(f"{self.peer} holds {found} entries after operations that leave {entries}")

    def rounds(self, rounds: int, cycles: int) -> Iterator[Row]:
        share = self.size // self.threads
        done = [time_round(self.shares, share, cycles) for _ in range(rounds)]
        self._expect(0)
        for share_steps in self.shares:
            share_steps["put"]()
        self._expect(self.size)
        overlap = median(one.overlap for one in done)
        for operation, time in (least if self.threads == 1 else usual)(done).items():
            yield self._row(operation, time, overlap)

    def iteration(self) -> Iterator[Row]:
        if self.call == "single":
            yield self._row(ITERATE, _best(self.subject.count, self.size))

    def snapshots(self) -> Iterator[Row]:
        subject = self.subject
        take = subject.snapshots
        if take is None:
            return
        times = _COPIES if subject.copies else SNAPSHOTS
        alone = _best(lambda: take(times), times)
        yield self._row(SNAPSHOT, alone)
        for operation, loop in subject.extra.items():
            yield self._row(operation, _best(lambda loop=loop: loop(times), times))  # type: ignore[misc]
        both = subject.snapshots_and_puts
        if both is not None:
            some = self.keys[:times]
            keys, values = subject.convert(some), subject.convert(some ^ 3)
            total = _best(lambda: both(keys, values), len(some))
            yield self._row(SNAPSHOT_AND_PUT, total)
            yield self._row(PUT_AFTER, Time(max(0.0, total.cpu - alone.cpu), max(0.0, total.wall - alone.wall)))


def _best(step: Callable[[], object], operations: int) -> Time:
    best = time_once(step, operations)
    for _ in range(PASSES - 1):
        best = best.least(time_once(step, operations))
    return best
