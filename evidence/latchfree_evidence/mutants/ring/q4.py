"""Q4: a position is claimed by a plain write, as if nobody else were there.

Shortest: A reads the position and the turn of its cell, B puts at this position, and so does A: one value is lost.
"""

from latchfree.atomics import store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.streams.kernels.positions import turn_to_get as next_position


@kernel
def claim(mem: Handle, counter: Word, position: Word) -> Flag:
    """Claim a position by a plain write, which always succeeds."""
    # spec: Ring!PutClaim, Ring!GetClaim
    store(mem, counter, next_position(position))
    return True
