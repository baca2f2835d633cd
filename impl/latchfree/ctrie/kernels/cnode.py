"""New C-nodes made from old ones: insert, update, remove, renew, contract, compress.

Example: the C-node of "tea" and "oat" has two slots. `inserted` returns a copy with three, `removed_contracted` a copy
with one, or below the root the tomb of the other key.

Invariant: every function returns a node that nobody has seen, of the generation of its I-node, and leaves its argument
untouched. The copy differs in exactly one slot, except for `renewed`, which copies I-nodes of other generations, and
`compressed`, which replaces tombed I-nodes by their S-nodes.
"""

import numpy as np

from latchfree.atomics import peek, poke, popcount
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    CHILD,
    NIL,
    ONE,
    SLOTS,
    T_NODE,
    TOMBED,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    new_cnode,
    new_inode,
    new_tnode,
)
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.words import position


@kernel
def inserted(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, gen: Word) -> Word:
    """Return a copy of `c` with one more slot."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    at = position(bitmap, flag)
    new = new_cnode(mem, me, bitmap | flag, n + ONE, gen)
    for k in range(at):
        poke(mem, new + SLOTS + np.uint64(k), peek(mem, c + SLOTS + np.uint64(k)))
    poke(mem, new + SLOTS + at, slot)
    for k in range(at, n):
        poke(mem, new + SLOTS + np.uint64(k) + ONE, peek(mem, c + SLOTS + np.uint64(k)))
    return new


@kernel
def updated(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, gen: Word) -> Word:
    """Return a copy of `c` with another content in the slot of `flag`."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    for k in range(n):
        poke(mem, new + SLOTS + np.uint64(k), peek(mem, c + SLOTS + np.uint64(k)))
    poke(mem, new + SLOTS + position(bitmap, flag), slot)
    return new


@kernel
def updated_contracted(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, level: Word, gen: Word) -> Word:
    """Return `updated`, or the tomb of a lone S-node below the root (toContracted in the paper)."""
    if level > NIL and not is_child(slot) and popcount(peek(mem, c + BITMAP)) == ONE:
        return new_tnode(mem, me, slot, gen)
    return updated(mem, me, c, flag, slot, gen)


@kernel
def removed_contracted(mem: Handle, me: Word, c: Word, flag: Word, level: Word, gen: Word) -> Word:
    """Return a copy of `c` without the slot of `flag`, or the tomb of a lone S-node below the root (toContracted)."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    at = position(bitmap, flag)
    if level > NIL and n == ONE + ONE:
        other = peek(mem, c + SLOTS + (ONE - at))
        if not is_child(other):
            return new_tnode(mem, me, other, gen)
    new = new_cnode(mem, me, bitmap ^ flag, n - ONE, gen)
    for k in range(at):
        poke(mem, new + SLOTS + np.uint64(k), peek(mem, c + SLOTS + np.uint64(k)))
    for k in range(at + ONE, n):
        poke(mem, new + SLOTS + np.uint64(k) - ONE, peek(mem, c + SLOTS + np.uint64(k)))
    return new


@kernel
def renewed(mem: Handle, trie: Word, me: Word, c: Word, gen: Word) -> Word:
    """Return a copy of `c` with a copy of generation `gen` for every child I-node of another generation.

    Children of that generation already stay: they may hold newer mains than a copy would (mutant S1).
    """
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        if is_child(slot) and gen_of(mem, slot & UNTAG) != gen:
            slot = new_inode(mem, me, gcas_read(mem, trie, slot & UNTAG), gen) | CHILD
        poke(mem, new + SLOTS + np.uint64(k), slot)
    return new


@kernel
def compressed(mem: Handle, trie: Word, me: Word, c: Word, level: Word, gen: Word) -> Word:
    """Return `c` with the S-node of every tombed child, contracted; NIL if no child is tombed (toCompressed)."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    if level > NIL and n == ONE:
        # The S-node of the tomb would be alone here: the tomb moves up as it is.
        only = peek(mem, c + SLOTS)
        tomb = gcas_read(mem, trie, only & UNTAG) if is_child(only) else NIL
        return NIL if tomb == NIL or kind_of(mem, tomb) != T_NODE else new_tnode(mem, me, peek(mem, tomb + TOMBED), gen)
    new = new_cnode(mem, me, bitmap, n, gen)
    tombs = NIL
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        if is_child(slot):
            m = gcas_read(mem, trie, slot & UNTAG)
            if kind_of(mem, m) == T_NODE:
                slot = peek(mem, m + TOMBED)
                tombs += ONE
        poke(mem, new + SLOTS + np.uint64(k), slot)
    return new if tombs != NIL else NIL
