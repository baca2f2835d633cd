"""V1: a match validates the main of the root only."""

from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.nodes import ONE
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word


@kernel
def holds(mem: Handle, trie: Word, root: Word, noted: Word, words: Word) -> Flag:
    """Compare the root's main only, of all mains that were read."""
    return gcas_read(mem, trie, root) == peek(noted, ONE)
