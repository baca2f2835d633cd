"""Freeing a whole tree, one I-node at a time, when nobody can read or change it any more.

The I-nodes still to be freed are linked through their header words, so this needs no memory, however large the
tree is: a full arena can be emptied.
"""

import numpy as np

from latchfree.arena.kernels.freelists import give, round_up
from latchfree.arena.shape import (
    B_WORDS,
    BRANCH,
    COUNT,
    ENTRIES,
    I_WORDS,
    L_NODE,
    MAIN,
    PLAIN,
    PREV,
    SLOTS,
    T_NODE,
    TAG,
    TOMBED,
    UNTAG,
    gen_of,
    kind_of,
    size_of,
)
from latchfree.atomics import barrier, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def push_tree(mem: Handle, me: Word, to_do: Word, i: Word) -> None:
    """Put the tree below I-node `i` on the list `to_do` of a participant. The header, now a link, is lost.

    A branch is tagged `BRANCH`, for the header has its size.
    """
    poke(mem, i & PLAIN, peek(mem, me + to_do))
    barrier(mem)
    poke(mem, me + to_do, i)


@kernel
def _free(mem: Handle, me: Word, to_do: Word, slot: Word, birth: Word) -> Word:
    """Free an S-node born at `birth` or later, or note an I-node; returns how many were freed."""
    node = slot & PLAIN
    if node == _0 or gen_of(mem, node) < birth:
        return _0
    if slot & TAG != _0:
        push_tree(mem, me, to_do, slot & UNTAG)
        return _0
    give(mem, me, node, round_up(size_of(mem, node)))
    return _1


@kernel
def free_tree_node(mem: Handle, me: Word, to_do: Word, birth: Word) -> Word:
    """Free one I-node of a list, its main and its S-nodes, and note its children; returns the number of nodes freed.

    What was born before `birth` belongs to another trie and is left alone, with all below it; it must still be there.
    """
    word = peek(mem, me + to_do)
    i = word & PLAIN
    poke(mem, me + to_do, peek(mem, i))
    barrier(mem)
    m = peek(mem, i + MAIN)
    give(mem, me, i, I_WORDS if word & BRANCH == _0 else B_WORDS)
    prev = peek(mem, m + PREV)
    if prev != _0:
        # An update that was never decided: the node belongs to whoever attempted it, the tree to the old main.
        m = prev & UNTAG
    if gen_of(mem, m) < birth:
        return _1
    kind = kind_of(mem, m)
    freed = np.uint64(2)
    if kind == T_NODE:
        freed += _free(mem, me, to_do, peek(mem, m + TOMBED), birth)
    elif kind == L_NODE:
        for k in range(peek(mem, m + COUNT)):
            freed += _free(mem, me, to_do, peek(mem, m + ENTRIES + np.uint64(k)), birth)
    else:
        for k in range(size_of(mem, m) - SLOTS):
            freed += _free(mem, me, to_do, peek(mem, m + SLOTS + np.uint64(k)), birth)
    give(mem, me, m, round_up(size_of(mem, m)))
    return freed
