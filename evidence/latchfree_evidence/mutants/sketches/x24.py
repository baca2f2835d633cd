"""X24 (Bloom filter): a torn merge: words are read, joined with those of the other filter, and written.

Shortest: A has read a word to merge into; B adds an item and sets a bit of the word; A writes the word as A has read
it, with the bits of the other filter. The item of B is not there.
"""

import numpy as np

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added

_1 = np.uint64(1)


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Set all bits of another filter in two steps a word."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(theirs)):
        at = record + FIRST_CELL + np.uint64(k)
        store(mem, at, load(mem, at) | theirs[k])
    note_added(mem, record, count)
    leave(mem, me)
    return _1
