"""X6 (scalable Bloom filter): new items are counted by a load and a store.

Shortest: A has read the count of a layer; B adds an item and counts it; A writes the count that A has read, plus one.
The layer takes more items than it is for.
"""

from latchfree.atomics import load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.scalable import COUNT, ITEMS, grow, layer_at


@kernel
def count_new(mem: Handle, record: Word, last: Word, count: Word) -> None:
    """Count items in two steps."""
    layer = layer_at(record, last)
    counted = load(mem, layer + COUNT) + count
    store(mem, layer + COUNT, counted)
    if counted >= peek(mem, layer + ITEMS):
        grow(mem, record, last)
