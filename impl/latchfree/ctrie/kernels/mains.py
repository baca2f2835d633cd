"""New mains made from old ones: C-nodes and L-nodes with one change, and tombs.

Example: the C-node of "tea" and "oat" has two slots. `inserted` returns a copy with three, `removed_contracted` a copy
with one, or below the root the tomb of the other key.

An L-node holds the keys whose whole hash is the same, below the last level. A committed one has at least two entries,
with distinct keys: removal of the second last makes a tomb.

Invariant: every function returns a node that nobody has seen, of the generation of its I-node, and leaves its argument
untouched. The copy differs in exactly one slot or entry, except for `compressed`, which replaces tombed I-nodes by
their S-nodes. `dual` makes a whole new branch.
"""

import numpy as np

from latchfree.atomics import in_line, peek, poke, popcount
from latchfree.ctrie.kernels.gcas import gcas_read
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    CHILD,
    COUNT,
    ENTRIES,
    L_NODE,
    L_WORDS,
    LAST_LEVEL,
    MAIN,
    NIL,
    ONE,
    PREV,
    SLOTS,
    STRIDE,
    T_NODE,
    TOMBED,
    UNTAG,
    is_child,
    kind_of,
    new_cnode,
    new_inode,
    new_node,
    new_tnode,
    slot_at,
)
from latchfree.ctrie.kernels.snode import new_snode, placed, same_key, stored_hash
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Value, Word
from latchfree.words import flag_of, position

#: `find` when the key is not there.
NOWHERE = np.uint64((1 << 64) - 1)

_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)


@kernel
def copy(mem: Handle, to: Word, source: Word, count: Word) -> None:
    """Copy words that nobody changes to a node that nobody has seen.

    How many slots a node has, the processor cannot predict, and a branch predicted wrongly takes as long as copying a
    full node. So there is no loop for the last one to three words: some words are copied twice.
    """
    if count >= _FOUR:
        k = NIL
        last = count - _FOUR
        while k < last:
            _copy_four(mem, to + k, source + k)
            k += _FOUR
        _copy_four(mem, to + last, source + last)
    elif count != NIL:
        middle, last = count >> ONE, count - ONE
        a, b, c = peek(mem, source), peek(mem, source + middle), peek(mem, source + last)
        poke(mem, to, a)
        poke(mem, to + middle, b)
        poke(mem, to + last, c)


@kernel
def _copy_four(mem: Handle, to: Word, source: Word) -> None:
    """Copy four words. All are read before any is written: so the compiler moves two at a time."""
    a, b = peek(mem, source), peek(mem, source + ONE)
    c, d = peek(mem, source + _TWO), peek(mem, source + _THREE)
    poke(mem, to, a)
    poke(mem, to + ONE, b)
    poke(mem, to + _TWO, c)
    poke(mem, to + _THREE, d)


@kernel
def inserted(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, gen: Word) -> Word:
    """Return a copy of `c` with one more slot."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    at = position(bitmap, flag)
    new = new_cnode(mem, me, bitmap | flag, n + ONE, gen)
    copy(mem, new + SLOTS, c + SLOTS, at)
    poke(mem, new + SLOTS + at, slot)
    copy(mem, new + SLOTS + at + ONE, c + SLOTS + at, n - at)
    return new


@kernel
def updated(mem: Handle, me: Word, c: Word, flag: Word, slot: Word, gen: Word) -> Word:
    """Return a copy of `c` with another content in the slot of `flag`."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    copy(mem, new + SLOTS, c + SLOTS, n)
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
    copy(mem, new + SLOTS, c + SLOTS, at)
    copy(mem, new + SLOTS + at, c + SLOTS + at + ONE, n - at - ONE)
    return new


@kernel
def renewed(mem: Handle, trie: Word, me: Word, c: Word, flag: Word, gen: Word) -> Word:
    """Return a copy of `c` whose child in the slot of `flag`, of an older generation, is a copy of generation `gen`.

    The other children stay as they are. One that is of that generation already may hold a newer main than a copy would
    (mutant S1); one that is older is renewed when an update goes there.
    """
    child = peek(mem, slot_at(mem, c, flag)) & UNTAG
    return updated(mem, me, c, flag, new_inode(mem, me, gcas_read(mem, trie, child), gen) | CHILD, gen)


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


@kernel
def new_lnode(mem: Handle, me: Word, count: Word, gen: Word) -> Word:
    """Return a new L-node with room for `count` entries, for the caller to fill; NIL if memory is short."""
    node = new_node(mem, me, L_NODE, L_WORDS + count, gen)
    if node == NIL:
        return NIL
    poke(mem, node + PREV, NIL)
    poke(mem, node + COUNT, count)
    return node


@kernel
def find(mem: Handle, node: Word, key: Key) -> Word:
    """Return the index of the entry that holds `key`, or NOWHERE."""
    for k in range(peek(mem, node + COUNT)):
        if same_key(mem, peek(mem, node + ENTRIES + np.uint64(k)), key):
            return np.uint64(k)
    return NOWHERE


@kernel
def with_entry(mem: Handle, me: Word, node: Word, at: Word, snode: Word, gen: Word) -> Word:
    """Return a copy with the entry at index `at` replaced, or with one more when `at` is NOWHERE."""
    count = peek(mem, node + COUNT)
    new = new_lnode(mem, me, count + ONE if at == NOWHERE else count, gen)
    if new == NIL:
        return NIL
    for k in range(count):
        poke(mem, new + ENTRIES + np.uint64(k), peek(mem, node + ENTRIES + np.uint64(k)))
    poke(mem, new + ENTRIES + (count if at == NOWHERE else at), snode)
    return new


@kernel
def without_entry(mem: Handle, me: Word, node: Word, at: Word, gen: Word) -> Word:
    """Return a copy without the entry at index `at`, or the tomb of the other entry when there were two."""
    count = peek(mem, node + COUNT)
    if count == ONE + ONE:
        return new_tnode(mem, me, peek(mem, node + ENTRIES + (ONE - at)), gen)
    new = new_lnode(mem, me, count - ONE, gen)
    if new == NIL:
        return NIL
    for k in range(count - ONE):
        source = np.uint64(k) if np.uint64(k) < at else np.uint64(k) + ONE
        poke(mem, new + ENTRIES + np.uint64(k), peek(mem, node + ENTRIES + source))
    return new


@kernel
def dual(mem: Handle, me: Word, a: Word, ha: Word, b: Word, hb: Word, level: Word, gen: Word) -> Word:
    """Return a new I-node with S-nodes `a` and `b`: a chain down to where their hashes differ, or to an L-node."""
    top = new_inode(mem, me, NIL, gen)
    i = top
    while True:
        if level > LAST_LEVEL:
            node = new_lnode(mem, me, ONE + ONE, gen)
            poke(mem, node + ENTRIES, a)
            poke(mem, node + ENTRIES + ONE, b)
            poke(mem, i + MAIN, node)
            return top
        fa = flag_of(ha, level)
        fb = flag_of(hb, level)
        if fa != fb:
            node = new_cnode(mem, me, fa | fb, ONE + ONE, gen)
            poke(mem, node + SLOTS, a if fa < fb else b)
            poke(mem, node + SLOTS + ONE, b if fa < fb else a)
            poke(mem, i + MAIN, node)
            return top
        below = new_inode(mem, me, NIL, gen)
        node = new_cnode(mem, me, fa, ONE, gen)
        poke(mem, node + SLOTS, below | CHILD)
        poke(mem, i + MAIN, node)
        i = below
        level += STRIDE


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
    """Return a copy of C-node `m` with key and value; `slot`, NIL or an S-node, is the slot of the key in `m`."""
    in_line()
    snode = new_snode(mem, me, key, full, value, gen)
    flag = flag_of(h, level)
    if slot == NIL:
        return inserted(mem, me, m, flag, snode, gen)
    if same_key(mem, slot, key):
        return updated(mem, me, m, flag, snode, gen)
    there = placed(mem, trie, stored_hash(mem, slot, key))
    below = dual(mem, me, slot, there, snode, h, level + STRIDE, gen)
    return updated(mem, me, m, flag, below | CHILD, gen)
