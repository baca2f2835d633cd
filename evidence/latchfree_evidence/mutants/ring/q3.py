"""Q3: a get passes the turn before it has read the value.

Shortest: the ring is full; A claims the oldest value and passes the turn, B puts into the same cell, and A gets that.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.layout import TURN, VALUE
from latchfree.streams.kernels.positions import turn_to_put_again


@kernel
def drain(mem: Handle, cell: Word, position: Word, mask: Word) -> Word:
    """Pass the turn, and only then read the value."""
    # spec: Ring!GetRelease
    store(mem, cell + TURN, turn_to_put_again(position, mask))
    # spec: Ring!GetRead
    return load(mem, cell + VALUE)
