"""Mixes of reads and writes: which keys are drawn, what each thread does with them, and what must be there at the end.

A map holds all keys, each with the value 0. A thread has a *tape* of operations: keys that are drawn anew for each, and
for each the value to be put, or 0 for a read. A value is written by one operation of one tape, so the end of a run is
known: a key holds what one of the tapes wrote there last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np

from measuring.timing import least, time_round, usual
from measuring.workload import CALLS, THREADS, Row, random_keys
from peers.base import Call, Ints, Plan, Subject

#: Percent of the operations that read.
READS: Final = {"90/10": 90, "50/50": 50}
#: How the keys of operations are drawn: all alike, or the k-th with a weight of 1/k.
DRAWS: Final = ("uniform", "zipf")
OPERATIONS: Final = [f"{mix}, {draw}" for draw in DRAWS for mix in READS]
#: Operations of one batch of a bulk call.
BATCH: Final = 1000
_ABSENT: Final = -1


class Wrong(Exception):
    """A map holds something else than what was put there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A run: numbers of keys, operations of a thread in a round, rounds, seed."""

    sizes: tuple[int, ...]
    operations: int
    rounds: int
    seed: int


@dataclass(frozen=True, slots=True)
class Part:
    """A mix on a map: keys that are there, and a tape for each thread, of keys and values; 0 stands for a read."""

    call: Call
    operation: str
    keys: Ints
    tapes: list[tuple[Ints, Ints]]


def drawn(keys: Ints, count: int, draw: str, rng: np.random.Generator) -> Ints:
    """Draw keys: every one alike, or the k-th with a weight of 1/k."""
    if draw == "uniform":
        return rng.choice(keys, count)
    weights = np.cumsum(1 / np.arange(1, len(keys) + 1))
    ranks: Ints = np.searchsorted(weights, rng.random(count) * weights[-1])
    return keys[ranks]


def tape(keys: Ints, operation: str, thread: int, settings: Settings) -> tuple[Ints, Ints]:
    """Return the keys and values of a thread."""
    mix, _, draw = operation.partition(", ")
    rng = np.random.default_rng((settings.seed, thread, OPERATIONS.index(operation)))
    values = 1 + thread + len(THREADS) * np.arange(settings.operations, dtype=np.int64)
    values[rng.integers(0, 100, settings.operations) < READS[mix]] = 0
    return drawn(keys, settings.operations, draw, rng), values


def parts(settings: Settings) -> Iterator[Part]:
    """Go through all that is measured."""
    for call in CALLS:
        for size in settings.sizes:
            keys = random_keys(size, settings.seed)
            for threads in THREADS:
                for operation in OPERATIONS:
                    tapes = [tape(keys, operation, thread, settings) for thread in range(threads)]
                    yield Part(call, operation, keys, tapes)


def check(peer: str, part: Part, found: Sequence[int | None]) -> None:
    """Compare the values of all keys with what the tapes wrote last.

    Raises
    ------
    Wrong
        If one is something else.
    """
    order = np.argsort(part.keys)
    last = np.zeros((len(part.tapes), len(part.keys)), np.int64)
    for own, (keys, values) in zip(last, part.tapes, strict=True):
        places = order[np.searchsorted(part.keys, keys[values != 0], sorter=order)]
        own[places] = values[values != 0]  # of several values for one place, the last stays
    held = np.array([_ABSENT if value is None else value for value in found], np.int64)
    right = np.where((last == 0).all(axis=0), held == 0, ((held == last) & (last != 0)).any(axis=0))
    for place in np.flatnonzero(~right).tolist()[:1]:
        told = f"key {part.keys[place]} holds {found[place]}, not of {last[:, place].tolist()}"
        raise Wrong(f"{peer}, {part.call}, {part.operation}: {told}")


def rows(peer: str, make: Callable[[Plan], Subject | None], settings: Settings) -> Iterator[Row]:
    """Drive one peer's maps through all mixes."""
    for part in parts(settings):
        size, threads = len(part.keys), len(part.tapes)
        # What a put replaces is given back and used again: room for two rounds is enough.
        writes = 2 * (size + settings.operations * threads)
        subject = make(Plan(call=part.call, keys=size, threads=threads, writes=writes, snapshots=0))
        if subject is None:
            continue
        try:
            yield _driven(peer, subject, part, settings)
        finally:
            subject.close()


def _driven(peer: str, subject: Subject, part: Part, settings: Settings) -> Row:
    assert subject.look is not None
    subject.put(subject.convert(part.keys), subject.convert(np.zeros_like(part.keys)))
    step = _single if part.call == "single" else _bulk
    shares = [{part.operation: step(subject, *tape)} for tape in part.tapes]
    done = [time_round(shares, settings.operations, 1) for _ in range(settings.rounds)]
    check(peer, part, subject.look(part.keys.tolist()))
    time = (least if len(shares) == 1 else usual)(done)[part.operation]
    overlap = median(one.overlap for one in done)
    return Row(peer, part.call, len(part.keys), len(shares), part.operation, time.cpu, time.wall, overlap)


def _single(subject: Subject, keys: Ints, values: Ints) -> Callable[[], object]:
    mix = subject.mix
    assert mix is not None
    these = subject.convert(keys)
    written = zip(subject.convert(values), values.tolist(), strict=True)
    those = [value if number else None for value, number in written]
    return lambda: mix(these, those)


def _bulk(subject: Subject, keys: Ints, values: Ints) -> Callable[[], object]:
    """Return a step of batches: each reads in one call, and then puts in another."""
    batches: list[tuple[Any, Any, Any]] = []
    for begin in range(0, len(keys), BATCH):
        some, new = keys[begin : begin + BATCH], values[begin : begin + BATCH]
        parts = some[new == 0], some[new != 0], new[new != 0]
        batches.append(tuple(subject.convert(part) for part in parts))

    def step() -> None:
        for reads, these, those in batches:
            subject.get(reads)
            subject.put(these, those)

    return step
