"""X23 (Count-Min): a merge into a conservative sketch is not announced.

Shortest: A has merged the first of two counters of an item and waits; B adds the item, and finds the first counter high
enough for one more; A merges the second one. The first counter is 1 for two.
"""

import numpy as np

from latchfree.atomics import fetch_add
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Add the counters of another sketch as if nobody added meanwhile."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(theirs)):
        if theirs[k] != _0:
            fetch_add(mem, record + FIRST_CELL + np.uint64(k), theirs[k])
    note_added(mem, record, count)
    leave(mem, me)
    return _1
