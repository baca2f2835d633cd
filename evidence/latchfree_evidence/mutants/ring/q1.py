"""Q1 (Offer of Workiva's ring buffer): a put that loses the race for a position says that the queue is full.

Shortest: A reads the position and the turn of its cell, B puts, and A's compare-and-swap fails: with one of two cells
free it says "full".
"""

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.ring import LOST, REFUSED
from latchfree.streams.kernels.ring import put_once as put_once_right


@kernel
def put_once(mem: Handle, ring: Word, value: Word, me: Word) -> Word:
    """Say that the queue is full where another put has taken the position."""
    outcome = put_once_right(mem, ring, value, me)
    return REFUSED if outcome == LOST else outcome
