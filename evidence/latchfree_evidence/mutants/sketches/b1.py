"""B1 (inverse Bloom filter): the slot is read and then written, in two steps.

Shortest: A has read the slot; B adds the same item and is told that it is new; A writes and is told so, too.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels.inverse import slot_of


@kernel
def add(mem: Handle, record: Word, h: Word) -> Flag:
    """Look, and then write."""
    at = slot_of(mem, record, h)
    seen = load(mem, at) == h
    store(mem, at, h)
    return seen
