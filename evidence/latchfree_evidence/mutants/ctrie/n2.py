"""N2 (the textbook's): contraction without T-nodes.

A C-node that is left with one S-node stays as it is, and the remover moves the S-node up by itself. Shortest: A has
removed one of two keys and is about to put the other in place of their I-node; B inserts the removed key again, below
that I-node; A's compare-and-swap succeeds, and B's insert is gone.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT, failed, undo
from latchfree.atomics import peek, poke, popcount
from latchfree.ctrie.kernels.gcas import LOST, gcas, gcas_read, read_root
from latchfree.ctrie.kernels.mains import updated
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    C_NODE,
    NIL,
    ONE,
    SLOTS,
    STRIDE,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    new_cnode,
    slot_for,
)
from latchfree.ctrie.kernels.remove import remove as remove_right
from latchfree.ctrie.kernels.snode import full_hash, placed
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word
from latchfree.words import flag_of, position


@kernel
def removed_contracted(mem: Handle, me: Word, c: Word, flag: Word, level: Word, gen: Word) -> Word:
    """Leave a lone S-node in its C-node instead of making a tomb of it."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    at = position(bitmap, flag)
    new = new_cnode(mem, me, bitmap ^ flag, n - ONE, gen)
    for k in range(n - ONE):
        source = np.uint64(k) if np.uint64(k) < at else np.uint64(k) + ONE
        poke(mem, new + SLOTS + np.uint64(k), peek(mem, c + SLOTS + source))
    return new  # the real one makes a tomb of a lone S-node


@kernel
def _contract(mem: Handle, trie: Word, me: Word, h: Word) -> None:
    """If the lowest C-node on the path of a hash holds a lone S-node, try to put that in the place of its I-node."""
    i = read_root(mem, trie)
    gen = gen_of(mem, i)
    level = NIL
    while True:
        m = gcas_read(mem, trie, i)
        slot = slot_for(mem, m, h, level) if kind_of(mem, m) == C_NODE else NIL
        if not is_child(slot) or gen_of(mem, slot & UNTAG) != gen:
            return
        below = gcas_read(mem, trie, slot & UNTAG)
        if kind_of(mem, below) == C_NODE and popcount(peek(mem, below + BITMAP)) == ONE:
            lone = peek(mem, below + SLOTS)
            if not is_child(lone):
                break
        i = slot & UNTAG
        level += STRIDE
    if begin(mem, me, URGENT):
        new = updated(mem, me, m, flag_of(h, level), lone, gen)
        if not failed(mem, me) and gcas(mem, trie, i, m, new) == LOST:
            undo(mem, me)


@kernel
def remove(mem: Handle, trie: Word, me: Word, key: Key, mode: Word, expected: Word) -> Word:
    """Remove a key, then put a lone S-node in the place of its I-node without a tomb."""
    old = remove_right(mem, trie, me, key, mode, expected)
    _contract(mem, trie, me, placed(mem, trie, full_hash(key)))
    return old
