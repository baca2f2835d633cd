"""N1 (the textbook's): a trie without I-nodes, whose C-nodes hold the pointers to the level below themselves.

Who copies a C-node then copies the pointers in it. Here, an insert gives its copy of a C-node fresh I-nodes with the
mains that the children have now; so an insert below the old C-node is lost. Shortest: A, about to insert a new key, has
copied the C-node; B puts into one of its children; A's compare-and-swap succeeds, and B's put is gone.
"""

import numpy as np

from latchfree.atomics import load, peek, poke, popcount
from latchfree.ctrie.kernels.mains import inserted as inserted_right
from latchfree.ctrie.kernels.nodes import BITMAP, CHILD, MAIN, SLOTS, UNTAG, gen_of, is_child, new_inode
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def inserted(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, gen: Word) -> Word:
    """Insert a slot into a copy whose children are copies too."""
    new = inserted_right(mem, me, c, flag, slot, gen)
    for k in range(popcount(peek(mem, new + BITMAP))):
        child = peek(mem, new + SLOTS + np.uint64(k))
        if is_child(child):  # the real one shares the I-node
            i = child & UNTAG
            copy = new_inode(mem, me, load(mem, i + MAIN), gen_of(mem, i))
            poke(mem, new + SLOTS + np.uint64(k), copy | CHILD)
    return new
