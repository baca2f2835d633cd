"""L-nodes: the keys whose whole hash is the same, below the last level. Copied on every change.

Invariant: a committed L-node has at least two entries, with distinct keys. Removal of the second last makes a tomb.
"""

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.ctrie.kernels.entries import same_key
from latchfree.ctrie.kernels.nodes import COUNT, ENTRIES, L_NODE, L_WORDS, NIL, ONE, PREV, new_node, new_tnode
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word

#: `find` when the key is not there.
NOWHERE = np.uint64((1 << 64) - 1)


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
