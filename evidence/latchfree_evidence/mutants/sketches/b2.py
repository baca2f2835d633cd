"""B2 (inverse Bloom filter): the halves of a hash are exchanged one after the other.

Shortest: A and B add two items of one slot. A has exchanged the lower half and waits; B exchanges both halves; A
exchanges the upper half. The slot holds neither item.
"""

import numpy as np

from latchfree.atomics import cas, load
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels.inverse import slot_of

_LOWER = np.uint64((1 << 32) - 1)


@kernel
def _exchange(mem: Handle, at: Word, bits: Word, h: Word) -> Word:
    """Put some bits of a hash into the slot; return those that were there."""
    while True:
        old = load(mem, at)
        if cas(mem, at, old, (old & ~bits) | (h & bits)):
            return old & bits


@kernel
def add(mem: Handle, record: Word, h: Word) -> Flag:
    """Put a hash into its slot by halves; return whether both were there."""
    at = slot_of(mem, record, h)
    lower = _exchange(mem, at, _LOWER, h)
    return lower | _exchange(mem, at, ~_LOWER, h) == h
