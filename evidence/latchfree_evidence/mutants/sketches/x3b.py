"""X3b (counting Bloom filter): a full counter goes around.

Alone: an item is added 256 times. Its counters are 0.
"""

from latchfree.atomics import cas, load
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.counting import TOP


@kernel
def raise_counter(mem: Handle, at: Word, shift: Word, more: Word) -> None:
    """Add to a counter, without a top."""
    while True:
        word = load(mem, at)
        if cas(mem, at, word, (word & ~(TOP << shift)) | ((((word >> shift) + more) & TOP) << shift)):
            return
