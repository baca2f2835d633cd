"""W3 (Workiva): cleaning leaves a C-node without generation, and the next insert into it copies all its children.

To the insert, no generation is an old one. It copies the I-nodes below, though they are live, and an update that
commits in one of them before the insert does is lost; no snapshot is needed. Shortest: A removes a key and leaves a
tomb; B meets it and cleans; C, about to insert a new key, has copied the other child; B puts into that child; C's GCAS
succeeds, and the put is gone.
"""

import numpy as np

from latchfree.arena.kernels.node import header, size_of
from latchfree.atomics import peek, poke, popcount
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.mains import compressed as compressed_right
from latchfree.ctrie.kernels.mains import main_with as main_with_right
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    C_NODE,
    CHILD,
    NIL,
    SLOTS,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    new_cnode,
    new_inode,
)
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Value, Word


@kernel
def compressed(mem: Handle, trie: Word, me: Word, c: Word, level: Word, gen: Word) -> Word:
    """Compress a C-node and drop its generation."""
    new = compressed_right(mem, trie, me, c, level, gen)
    if new != NIL and kind_of(mem, new) == C_NODE:
        poke(mem, new, header(C_NODE, size_of(mem, new), NIL))  # the real one keeps the generation
    return new


@kernel
def _copy_of(mem: Handle, trie: Word, me: Word, c: Word, gen: Word) -> Word:
    """C-node `c` with a copy of every child."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        if is_child(slot):
            slot = new_inode(mem, me, gcas_read(mem, trie, slot & UNTAG), gen) | CHILD
        poke(mem, new + SLOTS + np.uint64(k), slot)
    return new


@kernel
def main_with(
    mem: Handle,
    trie: Word,
    me: Word,
    m: Word,
    slot: Word,
    key: Key,
    full: Word,
    h: Word,
    value: Value,
    level: Word,
    gen: Word,
) -> Word:
    """Take a C-node without generation for an old one, and copy its children."""
    if gen_of(mem, m) == NIL:
        m = _copy_of(mem, trie, me, m, gen)
    return main_with_right(mem, trie, me, m, slot, key, full, h, value, level, gen)
