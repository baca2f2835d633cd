"""Count-Min whose counters the hash of another library chooses: each item comes with the places of its counters.

Example: a sketch of 3 rows of 10 counters gets "tea" with the places 4, 17 and 21: one counter in each row. To add it,
each of the three grows; its estimate is the lowest of them.

Invariant: each counter of an item is at least the sum of the counts of the adds of the item that have ended.

A place `NOWHERE` belongs to an item that the other library passes over.
"""

import numpy as np

from latchfree.atomics import fetch_add, load, peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added
from latchfree.sketches.kernels.rows import DEPTH

_0 = np.uint64(0)
_1 = np.uint64(1)
NOWHERE = np.uint64((1 << 64) - 1)


@kernel
def add_counts(mem: Handle, me: Word, record: Word, number: Word, places: Array, counts: Array) -> Word:
    """Add a count to each counter of each item; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    depth, total, at = np.int64(peek(mem, record + DEPTH)), _0, np.int64(0)
    for k in range(len(counts)):
        count = np.uint64(counts[k])
        if places[at] != NOWHERE:
            for j in range(depth):
                # spec: none -- seq_cst: a load and a store instead would lose what others add in between.
                fetch_add(mem, record + FIRST_CELL + places[at + j], count)
            total += count
        at += depth
    note_added(mem, record, total)
    leave(mem, me)
    return _1


@kernel
def estimate_many(mem: Handle, me: Word, record: Word, number: Word, places: Array, out: Array) -> Word:
    """Write the lowest counter of each item; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    depth, at = np.int64(peek(mem, record + DEPTH)), np.int64(0)
    for k in range(len(out)):
        least = ~_0 if places[at] != NOWHERE else _0
        for j in range(depth):
            if least != _0:
                # spec: none -- acquire: sees the counts of every add that has returned before.
                least = min(least, load(mem, record + FIRST_CELL + places[at + j]))
        out[k] = np.int64(least)
        at += depth
    leave(mem, me)
    return _1
