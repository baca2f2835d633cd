"""X4 (stable Bloom filter): a store for the compare-and-swap of fading.

Shortest: A has read a word of cells, to lower some; B adds an item and sets cells of the word; A writes the word as A
has read it, with its cells lowered. The item of B is not there.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.stable import faded


@kernel
def fade_word(mem: Handle, at: Word, cells: Word) -> None:
    """Write the word back without a look at what others have done to it."""
    store(mem, at, faded(load(mem, at), cells))
