"""N4 (the textbook's): an update answers the value that it saw at first, and not the one that it has replaced.

Shortest: the key has value 1. A, about to put 3, sees 1. B puts 2 and answers 1. A puts 3 and answers 1, too, although
A has replaced 2.
"""

from latchfree.ctrie.kernels.insert import ALWAYS, FULL
from latchfree.ctrie.kernels.insert import insert as insert_right
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Value, Word


@kernel
def insert(mem: Handle, trie: Word, me: Word, key: Key, value: Value, mode: Word, expected: Word) -> Word:
    """Return the S-node that a first look has found."""
    seen = lookup(mem, trie, me, key)
    old = insert_right(mem, trie, me, key, value, mode, expected)
    return seen if mode == ALWAYS and old != FULL else old  # the real one returns what it has replaced
