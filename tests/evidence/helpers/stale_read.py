"""A lookup that now and then uses the main node which was there before, if that holds the same.

The lookup reads a main node twice. If another thread has put an equal value meanwhile, it goes on in the first one: the
answer is the right one, and no C-node that it meets differs from the one that was there.
"""

import numpy as np

from latchfree.atomics import load, load_seq, peek, popcount
from latchfree.ctrie.kernels.lookup import TO_HELP
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    C_NODE,
    MAIN,
    NIL,
    PENDING,
    PREV,
    ROOT_WORD,
    SLOTS,
    STRIDE,
    UNTAG,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.snode import VALUE, same_key
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Key, Word


@kernel
def equal_content(mem: Handle, a: Word, b: Word) -> Flag:
    """Return whether two main nodes are C-nodes with the same children, and with S-nodes of the same values."""
    if kind_of(mem, a) != C_NODE or kind_of(mem, b) != C_NODE or peek(mem, a + BITMAP) != peek(mem, b + BITMAP):
        return False
    for k in range(popcount(peek(mem, a + BITMAP))):
        one, other = peek(mem, a + SLOTS + np.uint64(k)), peek(mem, b + SLOTS + np.uint64(k))
        if one != other:
            if is_child(one) or is_child(other):
                return False
            if peek(mem, one + VALUE) != peek(mem, other + VALUE):
                return False
    return True


@kernel
def lookup_undisturbed(mem: Handle, trie: Word, h: Word, key: Key) -> Word:
    """Return the S-node of `key` or NIL; TO_HELP where there is something to help with first."""
    # spec: Ctrie!RdcssRead
    i = load_seq(mem, trie + ROOT_WORD)
    if i & PENDING != NIL:
        return TO_HELP
    level = NIL
    while True:
        # spec: none -- the first look.
        before = load(mem, i + MAIN)
        # spec: Ctrie!GcasReadMain
        m = load_seq(mem, i + MAIN)
        if m != before and equal_content(mem, m, before):
            m = before
        # spec: Ctrie!GcasReadPrev
        if load(mem, m + PREV) != NIL or kind_of(mem, m) != C_NODE:
            return TO_HELP
        slot = slot_for(mem, m, h, level)
        if not is_child(slot):
            return slot if slot == NIL or same_key(mem, slot, key) else NIL
        i = slot & UNTAG
        level += STRIDE
