"""C2 (the published subscription trie): a parent that holds anything else keeps a tombed child.

Whoever subscribes there later meets the tomb for ever: one thread alone never ends.
"""

from latchfree.atomics import peek, popcount
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.nodes import BITMAP, C_NODE, ONE, kind_of
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels.change import TWO
from latchfree.topics.concurrent.kernels.change import clean as clean_right


@kernel
def clean(mem: Handle, trie: Word, me: Word, path: Array, depth: Word, digits: Array, startgen: Word) -> Flag:
    """Keep a tombed child in a parent that holds anything else."""
    m = gcas_read(mem, trie, path[TWO * (depth - ONE)])
    if kind_of(mem, m) == C_NODE and popcount(peek(mem, m + BITMAP)) > ONE:
        return True
    return clean_right(mem, trie, me, path, depth, digits, startgen)
