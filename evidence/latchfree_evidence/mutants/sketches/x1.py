"""X1 (counting Bloom filter): a store for the compare-and-swap.

Shortest: A has read a word of eight counters; B adds an item and raises another counter of the word; A writes the word
as A has read it, with its own counter raised. The item of B is not there.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.counting import TOP


@kernel
def raise_counter(mem: Handle, at: Word, shift: Word, more: Word) -> None:
    """Write the word back without a look at what others have done to it."""
    word = load(mem, at)
    held = (word >> shift) & TOP
    store(mem, at, word + ((min(held + more, TOP) - held) << shift))
