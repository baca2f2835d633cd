"""X14 (KLL): an item is counted before it is written.

Shortest: A has said that there is one item more and waits. A reader takes for an item what was there before.
"""

import numpy as np

from latchfree.atomics import load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.kll import add as add_right
from latchfree.sketches.kernels.lanes import COPY_HEAD, ROOM, STATE, copy_at, publish

_1 = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


@kernel
def add(mem: Handle, record: Word, lane: Word, item: Word) -> None:
    """Say that the item is there, and only then write it, unless it is the last that the level has room for."""
    room, state = peek(mem, record + ROOM), load(mem, lane + STATE)
    if (state & _LOW) + _1 < room:
        publish(mem, lane, state + _1)
        store(mem, copy_at(lane, state >> _32, room) + COPY_HEAD + (state & _LOW), item)
    else:
        add_right(mem, record, lane, item)
