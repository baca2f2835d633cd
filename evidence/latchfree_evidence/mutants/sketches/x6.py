"""X6 (scalable Bloom filter): new items are counted by a load and a store.

Shortest: A has read the count of a layer; B adds an item and counts it; A writes the count that A has read, plus one.
The layer takes more items than it is for.
"""

import numpy as np

from latchfree.atomics import load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels import bloom
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.sketches.kernels.scalable import (
    BITS,
    BITS_AT,
    BLOCKS,
    COUNT,
    ITEMS,
    LAST,
    WORDS,
    contains,
    grow,
    layer_at,
)

_1 = np.uint64(1)


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Add a hash to the last layer in use, if it is in none, and count it in two steps."""
    if contains(mem, record, h):
        return
    last = load(mem, record + LAST)
    layer = layer_at(record, last)
    cells = record + FIRST_CELL + peek(mem, layer + BITS_AT)
    bloom.add_at(mem, cells, peek(mem, layer + BLOCKS), peek(mem, layer + WORDS), peek(mem, layer + BITS), h)
    count = load(mem, layer + COUNT) + _1
    store(mem, layer + COUNT, count)
    if count >= peek(mem, layer + ITEMS):
        grow(mem, record, last)
