"""The outcomes of schedules, and which of them are known to be linearizable.

An outcome has two parts: the results of all operations, and for each operation the mask of those that had returned when
it was invoked. The tables keep the linearizations that the checker found for some results. An outcome with the same
results is linearizable too if a linearization puts every operation after those that had returned before. So few
outcomes reach the checker.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get

#: Results kept, a power of two; and linearizations for each.
MOST_RESULTS = 1 << 14
MOST_ORDERS = 8

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


class Seen(NamedTuple):
    """Tables of results seen. Row `k` of each belongs to one entry; a slot holds an entry plus one, or 0."""

    slots: Any
    results: Any  # (entry, operation)
    orders: Any  # (entry, linearization, operation)
    counts: Any  # (entry,) linearizations
    total: Any  # (1,) entries


def new_tables(operations: int) -> Seen:
    """Make empty tables for outcomes of so many operations."""
    return Seen(
        np.zeros(2 * MOST_RESULTS, np.int64),
        np.zeros((MOST_RESULTS, operations), np.int64),
        np.zeros((MOST_RESULTS, MOST_ORDERS, operations), np.int64),
        np.zeros(MOST_RESULTS, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def _same(board: Word, row: Array) -> Flag:
    different = 0
    for k in range(len(row)):
        different |= row[k] ^ get(b.call(board, k), b.C_RESULT)
    return different == 0


@kernel
def find(board: Word, seen: Any) -> Word:
    """Return the entry of the last schedule's results, a new one if there is none; -1 if there is no room."""
    n = seen.results.shape[1]
    h = np.uint64(n)
    for k in range(n):
        h = (h ^ np.uint64(get(b.call(board, k), b.C_RESULT))) * _MULTIPLIER
        h ^= h >> _SHIFT
    mask = len(seen.slots) - 1
    at = np.int64(h) & mask
    while seen.slots[at] != 0:
        if _same(board, seen.results[seen.slots[at] - 1]):
            return seen.slots[at] - 1
        at = (at + 1) & mask
    new = seen.total[0]
    if new == len(seen.results):
        return -1
    for k in range(n):
        seen.results[new, k] = get(b.call(board, k), b.C_RESULT)
    seen.counts[new] = 0
    seen.total[0] = new + 1
    seen.slots[at] = new + 1
    return new


@kernel
def is_known(board: Word, seen: Any) -> Flag:
    """Return whether a linearization found before explains the last schedule too."""
    entry = find(board, seen)
    if entry < 0:
        return False
    for order in range(seen.counts[entry]):
        fits = True
        for k in range(seen.results.shape[1]):
            if get(b.call(board, k), b.C_BEFORE) & ~seen.orders[entry, order, k]:
                fits = False
        if fits:
            return True
    return False


@kernel
def learn(board: Word, seen: Any, order: Array) -> None:
    """Keep a linearization of the last schedule's outcome: the operations, in order; it must have all of them."""
    if len(order) != seen.results.shape[1]:
        return
    entry = find(board, seen)
    if entry < 0:
        seen.slots[:] = 0
        seen.total[0] = 0
        entry = find(board, seen)
    at = seen.counts[entry] % MOST_ORDERS
    before = 0
    for k in order:
        seen.orders[entry, at, k] = before
        before |= 1 << k
    if seen.counts[entry] < MOST_ORDERS:
        seen.counts[entry] += 1
