"""X12 (Top-K): who finds the own hash in the slot takes the item for written.

Shortest: A has taken the slot for item 1 and waits; B takes it for item 2, and writes and seals that; A writes bytes of
item 1 over it. Nobody's bytes are sealed, and the next add of item 2 leaves them so.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels.top import bucket_of, held_at
from latchfree.sketches.kernels.top import wants as wants_right

_0 = np.uint64(0)


@kernel
def wants(mem: Handle, record: Word, h: Word, estimate: Word) -> Flag:
    """Say that an item whose hash is there need not be written."""
    return held_at(mem, bucket_of(mem, record, h), h) == _0 and wants_right(mem, record, h, estimate)
