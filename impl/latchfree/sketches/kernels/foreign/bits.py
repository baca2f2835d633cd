"""A Bloom filter whose bits the hash of another library chooses: each item comes with the numbers of its bits.

Example: a filter of 128 bits, 3 for each item, gets "tea" with 7, 64 and 100: a bit of the first word, two of the
second.

Invariant: a bit that is set stays set. So who finds all bits of an item will always find them.
"""

import numpy as np

from latchfree.atomics import load, peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.bloom import BITS, set_word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added

_1 = np.uint64(1)
_6 = np.uint64(6)
_63 = np.uint64(63)


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, places: Array) -> Word:
    """Set the bits of items; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(places)):
        set_word(mem, record + FIRST_CELL + (places[k] >> _6), _1 << (places[k] & _63))
    note_added(mem, record, np.uint64(len(places)) // peek(mem, record + BITS))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, places: Array, found: Array) -> Word:
    """Write 1 for each item whose bits are all set, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    each, at = np.int64(peek(mem, record + BITS)), np.int64(0)
    for k in range(len(found)):
        found[k] = 1
        for j in range(each):
            place = places[at + j]
            # spec: none -- acquire: sees the bits of every add that has returned before.
            if load(mem, record + FIRST_CELL + (place >> _6)) >> (place & _63) & _1 == np.uint64(0):
                found[k] = 0
                break
        at += each
    leave(mem, me)
    return _1
