"""Freeing a whole tree, one I-node at a time, after its grace: when nobody can read or change it any more.

The I-nodes still to be freed are linked through their header words, so this needs no memory, however large the
tree is: a full arena can be emptied.
"""

import numpy as np

from latchfree.arena.freelists import give, round_up
from latchfree.arena.layout import P_TREES
from latchfree.arena.shape import (
    COUNT,
    ENTRIES,
    I_WORDS,
    L_NODE,
    MAIN,
    PREV,
    SLOTS,
    T_NODE,
    TAG,
    TOMBED,
    UNTAG,
    kind_of,
    size_of,
)
from latchfree.atomics import barrier, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def push_tree(mem: Handle, me: Word, i: Word) -> None:
    """Have the tree below I-node `i` freed. Its header, now a link, is lost."""
    poke(mem, i, peek(mem, me + P_TREES))
    barrier(mem)
    poke(mem, me + P_TREES, i)


@kernel
def _free(mem: Handle, me: Word, node: Word) -> None:
    give(mem, me, node, round_up(size_of(mem, node)))


@kernel
def free_tree_node(mem: Handle, me: Word) -> Word:
    """Free one I-node, its main and its S-nodes, and note its children; returns the number of nodes freed."""
    i = peek(mem, me + P_TREES)
    poke(mem, me + P_TREES, peek(mem, i))
    barrier(mem)
    m = peek(mem, i + MAIN)
    give(mem, me, i, I_WORDS)
    prev = peek(mem, m + PREV)
    if prev != _0:
        # An update that was never decided: the node belongs to whoever attempted it, the tree to the old main.
        m = prev & UNTAG
    kind = kind_of(mem, m)
    freed = np.uint64(2)
    if kind == T_NODE:
        _free(mem, me, peek(mem, m + TOMBED))
        freed += _1
    elif kind == L_NODE:
        for k in range(peek(mem, m + COUNT)):
            _free(mem, me, peek(mem, m + ENTRIES + np.uint64(k)))
            freed += _1
    else:
        for k in range(size_of(mem, m) - SLOTS):
            slot = peek(mem, m + SLOTS + np.uint64(k))
            if slot & TAG == _0:
                _free(mem, me, slot)
                freed += _1
            else:
                push_tree(mem, me, slot & UNTAG)
    _free(mem, me, m)
    return freed
