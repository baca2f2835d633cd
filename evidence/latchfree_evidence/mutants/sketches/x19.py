"""X19 (HyperLogLog): a store for the compare-and-swap.

Shortest: A has read a word of eight registers; B raises another register of the word; A writes the word as A has read
it, with its own register raised. The register of B has fallen.
"""

import numpy as np

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

_BYTE = np.uint64(255)


@kernel
def raise_register(mem: Handle, at: Word, shift: Word, rank: Word) -> None:
    """Write the word back without a look at what others have done to it."""
    word = load(mem, at)
    held = (word >> shift) & _BYTE
    if held < rank:
        store(mem, at, word + ((rank - held) << shift))
