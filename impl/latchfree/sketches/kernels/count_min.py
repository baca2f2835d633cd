"""Count-Min: rows of counters, of which an item has one in each row; the lowest is the estimate.

Example: "tea" was added twice, and shares its counter of the first row with "oat", which was added once. Its counters
are 3 and 2: the estimate is 2.

Invariant: each counter of an item is at least the sum of the counts of the adds of the item that have ended.
"""

import numpy as np

from latchfree.atomics import fetch_add, high_product, load, peek, prefetch
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels import conservative
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added
from latchfree.sketches.kernels.rows import CONSERVATIVE, DEPTH, WIDTH, next_row

_0 = np.uint64(0)
_1 = np.uint64(1)

#: How far ahead of the items in hand their counters are asked for: another processor may have written to them.
AHEAD = 3


@kernel
def add_plainly(mem: Handle, record: Word, h: Word, count: Word) -> Word:
    """Add to the counter of each row; return the lowest, which is an estimate, as each was left."""
    width = peek(mem, record + WIDTH)
    row = record + FIRST_CELL
    least = ~_0
    for _ in range(peek(mem, record + DEPTH)):
        h = next_row(h)
        # spec: none -- seq_cst: a load and a store instead would lose what others add in between.
        least = min(least, fetch_add(mem, row + high_product(h, width), count) + count)
        row += width
    return least


@kernel
def ask_for(mem: Handle, record: Word, h: Word) -> None:
    """Ask for the counters of a hash, to be written soon."""
    width = peek(mem, record + WIDTH)
    row = record + FIRST_CELL
    for _ in range(peek(mem, record + DEPTH)):
        h = next_row(h)
        prefetch(mem, row + high_product(h, width))
        row += width


@kernel
def add(mem: Handle, record: Word, h: Word, count: Word) -> None:
    """Add a count of an item by its hash; conservatively if the sketch is so, and then the count is announced."""
    if peek(mem, record + CONSERVATIVE) == _0:
        add_plainly(mem, record, h, count)
    else:
        conservative.add(mem, record, h, count)


@kernel
def estimate(mem: Handle, record: Word, h: Word) -> Word:
    """Return the lowest counter of a hash."""
    width = peek(mem, record + WIDTH)
    row = record + FIRST_CELL
    least = ~_0
    for _ in range(peek(mem, record + DEPTH)):
        h = next_row(h)
        # spec: none -- acquire: sees the counts of every add that has returned before.
        least = min(least, load(mem, row + high_product(h, width)))
        row += width
    return least


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word, count: Word) -> Word:
    """Add a count of an item by its hash; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    conservative.announce(mem, record, count)
    add(mem, record, h, count)
    conservative.withdraw(mem, record, count)
    note_added(mem, record, count)
    leave(mem, me)
    return _1


@entry
def estimate_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return the estimate of an item; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = estimate(mem, record, h)
    leave(mem, me)
    return found


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add one of each item by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    conservative.announce(mem, record, _1)
    # A plain add goes on while its counters come; a conservative one waits for what it reads.
    waits = peek(mem, record + CONSERVATIVE) != _0
    for k in range(len(hashes)):
        if waits and k + AHEAD < len(hashes):
            ask_for(mem, record, hashes[k + AHEAD])
        add(mem, record, hashes[k], _1)
    conservative.withdraw(mem, record, _1)
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def add_counts(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, counts: Array) -> Word:
    """Add counts of items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    total = _0
    for k in range(len(hashes)):
        count = np.uint64(counts[k])
        # One by one: what is announced is what others must leave room for.
        conservative.announce(mem, record, count)
        add(mem, record, hashes[k], count)
        conservative.withdraw(mem, record, count)
        total += count
    note_added(mem, record, total)
    leave(mem, me)
    return _1


@kernel
def estimate_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, out: Array) -> Word:
    """Write the estimate of each item; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        out[k] = np.int64(estimate(mem, record, hashes[k]))
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Add the counters of another sketch of the same shape; 1, or GONE.

    No conservative add may rely on counters that are being merged: the merge announces as much as it adds to any.
    """
    if not enter(mem, me, record, number):
        return GONE
    conservative.announce(mem, record, count)
    for k in range(len(theirs)):
        if theirs[k] != _0:
            # spec: none -- seq_cst, as in `add_plainly`.
            fetch_add(mem, record + FIRST_CELL + np.uint64(k), theirs[k])
    conservative.withdraw(mem, record, count)
    note_added(mem, record, count)
    leave(mem, me)
    return _1
