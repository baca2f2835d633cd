"""X18 (Bloom filter): a load and a store for the atomic or.

Shortest: A has read a word; B adds an item and sets a bit of the word; A writes the word as A has read it, with its own
bit set. The item of B is not there.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def set_word(mem: Handle, at: Word, mask: Word) -> None:
    """Set bits of a word in two steps."""
    word = load(mem, at)
    if word & mask != mask:
        store(mem, at, word | mask)
