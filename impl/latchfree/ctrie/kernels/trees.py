"""Freeing a whole tree, one I-node at a time, when nobody can read or change it any more.

Example: `clear` cuts off a tree of a million keys in one step. Its root waits in the limbo like any retired node; then
each attempt of an operation frees 64 nodes of the tree before it begins, and no call pays for all of them.

Invariant: a node of the tree is in the tree, or on a free list. The I-nodes still to be freed are linked through their
header words, so freeing needs no memory, however large the tree is: a full arena can be emptied.

The arena does not know what a tree is: `retire_tree` defers the root, the arena hands it back on the list `P_DEFERRED`
in due time, and `free_trees` takes it from there. Every operation of a trie therefore begins with the `begin` of this
module. What is left over when no operation runs is freed by `reclaim`, which `latchfree.structures` names.
"""

import numpy as np

from latchfree.arena.kernels import allocator, epochs
from latchfree.arena.kernels.blocks import push_holder
from latchfree.arena.kernels.epochs import A_FEW, defer, try_advance
from latchfree.arena.kernels.freelists import free, give
from latchfree.arena.kernels.node import gen_of, kind_of, size_of
from latchfree.arena.layout import P_DEFERRED
from latchfree.atomics import barrier, in_line, out_of_line, peek, poke
from latchfree.ctrie.kernels.shape import (
    B_WORDS,
    BRANCH,
    COUNT,
    ENTRIES,
    I_WORDS,
    L_NODE,
    MAIN,
    PAIR,
    PLAIN,
    PREV,
    SLOTS,
    T_NODE,
    TAG,
    TOMBED,
    UNTAG,
)
from latchfree.jit import entry, kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)

#: More than an arena can hold.
_EVERYTHING = np.uint64(1 << 62)


@kernel
def push_tree(mem: Handle, me: Word, to_do: Word, i: Word) -> None:
    """Put the tree below I-node `i` on the list `to_do` of a participant. The header, now a link, is lost.

    A branch is tagged `BRANCH`, for the header has its size.
    """
    poke(mem, i & PLAIN, peek(mem, me + to_do))
    barrier(mem)
    poke(mem, me + to_do, i)


@kernel
def _free_slot(mem: Handle, me: Word, to_do: Word, slot: Word, birth: Word) -> Word:
    """Free an S-node born at `birth` or later, or note an I-node; returns how many were freed."""
    node = slot & PLAIN
    if node == _0 or gen_of(mem, node) < birth:
        return _0
    if slot & TAG != _0:
        push_tree(mem, me, to_do, slot & UNTAG)
        return _0
    if kind_of(mem, node) == PAIR:
        push_holder(mem, me, node)
    else:
        free(mem, me, node)
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
        freed += _free_slot(mem, me, to_do, peek(mem, m + TOMBED), birth)
    elif kind == L_NODE:
        for k in range(peek(mem, m + COUNT)):
            freed += _free_slot(mem, me, to_do, peek(mem, m + ENTRIES + np.uint64(k)), birth)
    else:
        for k in range(size_of(mem, m) - SLOTS):
            freed += _free_slot(mem, me, to_do, peek(mem, m + SLOTS + np.uint64(k)), birth)
    free(mem, me, m)
    return freed


@kernel
def retire_tree(mem: Handle, me: Word, i: Word) -> None:
    """Free the whole tree below I-node `i`, which nothing links to any more, nor to any node of it.

    Nobody may change the tree, nor retire a node of it. `i` is no branch.
    """
    defer(mem, me, i)


@kernel
def free_trees(mem: Handle, me: Word, most: Word) -> None:
    """Free about `most` nodes of trees whose time has come."""
    freed = _0
    while freed < most and peek(mem, me + P_DEFERRED) != _0:
        freed += free_tree_node(mem, me, P_DEFERRED, _0)


@kernel
def drain(mem: Handle, me: Word, most: Word) -> None:
    """Free about `most` nodes whose time has come, and as many of trees."""
    epochs.drain(mem, me, most)
    free_trees(mem, me, most)


@kernel
def catch_up(mem: Handle, me: Word) -> None:
    """Free everything whose time has come: for calls that retire much at once and may be all that a thread does."""
    try_advance(mem)
    drain(mem, me, _EVERYTHING)


@kernel
def begin(mem: Handle, me: Word, urgent: Word) -> Flag:
    """Start an attempt, as the arena does, and free a few nodes of trees. False: the arena is full, nothing changed."""
    in_line()
    if peek(mem, me + P_DEFERRED) == _0 and allocator.begin(mem, me, urgent):
        return True
    return _begin_and_free(mem, me, urgent)


@kernel
def _begin_and_free(mem: Handle, me: Word, urgent: Word) -> Flag:
    """Do as `begin` where trees wait to be freed, or become due while the arena is full: the rare case."""
    out_of_line()
    for _ in range(2):
        if peek(mem, me + P_DEFERRED) == _0:
            return False
        free_trees(mem, me, A_FEW)
        if allocator.begin(mem, me, urgent):
            return True
    return False


@entry
def reclaim(mem: Handle, me: Word) -> None:
    """Free all trees on a participant's list; `Arena.collect` calls this."""
    free_trees(mem, me, _EVERYTHING)
