"""X15 (KLL): a reader does not look again whether the copy is in use.

Shortest: a reader has read which copy is in use, and waits. A adds until the lane has changed its copy twice, and so
writes into the one that the reader then reads.
"""

import numpy as np

from latchfree.atomics import load, load_seq
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.lanes import (
    COPY_HEAD,
    GREATEST,
    LEVELS,
    MOST_LEVELS,
    SIZES,
    STATE,
    USED,
    above,
    copy_at,
)

_1 = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


@kernel
def read_lane(mem: Handle, lane: Word, room: Word, out: Array, at: Word) -> None:
    """Copy a lane without a look whether it is the same at the end."""
    state = load_seq(mem, lane + STATE)
    copy = copy_at(lane, state >> _32, room)
    out[at] = state
    for k in range(GREATEST + _1):
        out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
    for k in range(SIZES, SIZES + min(out[at + _1 + LEVELS] + _1, MOST_LEVELS)):
        out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
    for k in range(COPY_HEAD, COPY_HEAD + (state & _LOW)):
        out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
    for k in range(COPY_HEAD + room, COPY_HEAD + room + min(out[at + _1 + USED], above(room))):
        out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
