"""S1 (Scala 2.12.18 and 2.13.16, Workiva): `renewed` copies every child I-node, also those of the target generation.

Between the copy and the GCAS that installs it, an update may commit in such a child; the copy does not have it.
Shortest: A, putting a key below an old child, has copied the new child too; B puts into the new child; A's GCAS
succeeds, and B's put is gone.
"""

import numpy as np

from latchfree.atomics import peek, poke, popcount
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.nodes import BITMAP, CHILD, SLOTS, UNTAG, is_child, new_cnode, new_inode
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def renewed(mem: Handle, trie: Word, me: Word, c: Word, flag: Word, gen: Word) -> Word:
    """Copy every child I-node, also those of the target generation."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        if is_child(slot):  # the real one copies the child in the slot of `flag` only
            slot = new_inode(mem, me, gcas_read(mem, trie, slot & UNTAG), gen) | CHILD
        poke(mem, new + SLOTS + np.uint64(k), slot)
    return new
