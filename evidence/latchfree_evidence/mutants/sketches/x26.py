"""X26 (KLL): a lane is claimed by a load and a store.

Shortest: A has found the lane free; B claims it and reads how many items there are; A claims it, too, adds an item and
counts it; B writes over that item, and counts as many.
"""

import numpy as np

from latchfree.atomics import load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.lanes import LANES, OWNER, ROOM, lane_words
from latchfree.sketches.kernels.record import FIRST_CELL

_0 = np.uint64(0)
_32 = np.uint64(32)


@kernel
def claim(mem: Handle, me: Word, record: Word, who: Word) -> Word:
    """Take the first lane that looks free."""
    for k in range(peek(mem, record + LANES)):
        lane = record + FIRST_CELL + np.uint64(k) * lane_words(peek(mem, record + ROOM))
        if load(mem, lane + OWNER) == _0:
            store(mem, lane + OWNER, who << _32)
            return lane
    return _0
