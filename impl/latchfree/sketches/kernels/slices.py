"""Slices: many items are counted in words of one's own, and then added to the counters of a Count-Min sketch.

Example: 16,384 items are added to five rows of 2,719 counters. One by one that is 81,920 atomic adds, each to a line of
the cache that another processor may have. Counted apart first it is one add for each counter, 13,595 in all, in the
order of their addresses: a line comes once for eight counters.

Invariant: each counter gets what the slice has counted for it, once. So a counter is between what it was without the
slice and what it is with all of it, and has all of it when the call returns: an estimate is at least the sum of the
counts of the adds that have ended, as it is with items added one by one.

`own` has a word for each counter. What was in it before does not matter.
"""

import numpy as np

from latchfree.atomics import fetch_add, high_product, peek, prefetch
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels import top
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added
from latchfree.sketches.kernels.rows import DEPTH, WIDTH, next_row

_0 = np.uint64(0)
_1 = np.uint64(1)
#: How far ahead of the counter in hand one is asked for: eight lines of the cache.
AHEAD = 64


@kernel
def count_apart(own: Array, hashes: Array, width: Word, depth: Word) -> None:
    """Write how much each counter gets for one of each item."""
    for k in range(len(own)):
        own[k] = _0
    for k in range(len(hashes)):
        h, row = hashes[k], _0
        for _ in range(depth):
            h = next_row(h)
            own[row + high_product(h, width)] += _1
            row += width


@kernel
def hand_over(mem: Handle, record: Word, own: Array) -> None:
    """Add to each counter what it gets; write the counter as it was left."""
    for k in range(len(own)):
        counter = record + FIRST_CELL + np.uint64(k)
        if k + AHEAD < len(own):
            prefetch(mem, counter + np.uint64(AHEAD))
        if own[k] != _0:
            # spec: none -- seq_cst: a load and a store instead would lose what others add in between.
            own[k] += fetch_add(mem, counter, own[k])


@kernel
def least_in(own: Array, h: Word, width: Word, depth: Word) -> Word:
    """Return the lowest counter of an item of the slice, as each was left."""
    least, row = ~_0, _0
    for _ in range(depth):
        h = next_row(h)
        least = min(least, own[row + high_product(h, width)])
        row += width
    return least


@kernel
def add_slice(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, own: Array) -> Word:
    """Add one of each item to a Count-Min sketch that is not conservative; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    count_apart(own, hashes, peek(mem, record + WIDTH), peek(mem, record + DEPTH))
    hand_over(mem, record, own)
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def top_add_slice(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, own: Array, wanted: Array) -> Word:
    """Add one of each item to a Top-K; write 1 for each to be written into the table, else 0; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    width, depth = peek(mem, record + WIDTH), peek(mem, record + DEPTH)
    count_apart(own, hashes, width, depth)
    hand_over(mem, record, own)
    for k in range(len(hashes)):
        wanted[k] = 1 if top.wants(mem, record, hashes[k], least_in(own, hashes[k], width, depth)) else 0
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1
