"""Q2: a put passes the turn before it has written the value.

Shortest: A claims a position and passes the turn, B gets what was in the cell before, and A writes.
"""

from latchfree.atomics import store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.layout import TURN, VALUE
from latchfree.streams.kernels.positions import turn_to_get


@kernel
def fill(mem: Handle, cell: Word, position: Word, value: Word) -> None:
    """Pass the turn, and only then write the value."""
    # spec: Ring!PutPublish
    store(mem, cell + TURN, turn_to_get(position))
    # spec: Ring!PutWrite
    store(mem, cell + VALUE, value)
