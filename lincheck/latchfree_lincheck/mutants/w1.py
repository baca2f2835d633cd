"""W1: a snapshot takes the root that is current after its RDCSS instead of the one the RDCSS retired.

That root is live: writes that come after the snapshot show up in it.
"""

from latchfree.ctrie.gcas import read_root
from latchfree.ctrie.insert import FULL
from latchfree.ctrie.snapshot import _replace_root
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    if _replace_root(mem, trie, me, False) == FULL:
        return FULL
    return read_root(mem, trie)
