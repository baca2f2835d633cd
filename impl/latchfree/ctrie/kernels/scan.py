"""Depth-first traversal of a frozen tree, in batches, T-node entries included.

A cursor is 32 words: word 0 the depth, then for each depth a main node and the index of its next slot. At most
twelve mains lie on a path: eleven C-nodes and an L-node.
"""

from latchfree.atomics import peek, popcount
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    C_NODE,
    COUNT,
    ENTRIES,
    NIL,
    ONE,
    SLOTS,
    T_NODE,
    TOMBED,
    UNTAG,
    is_child,
    kind_of,
)
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word

CURSOR_WORDS = 32


@kernel
def start(mem: Handle, root: Word, cursor: Array) -> None:
    """Point a cursor (a uint64 array) at the first entry below a frozen root I-node; the caller must be pinned."""
    cursor[0] = 1
    cursor[1] = gcas_read(mem, READ_ONLY, root)
    cursor[2] = 0


@kernel
def next_slot(mem: Handle, main: Word, at: Word) -> Word:
    """Return slot number `at` of a main node, NIL past the last."""
    kind = kind_of(mem, main)
    if kind == C_NODE:
        return peek(mem, main + SLOTS + at) if at < popcount(peek(mem, main + BITMAP)) else NIL
    if kind == T_NODE:
        return peek(mem, main + TOMBED) if at == NIL else NIL
    return peek(mem, main + ENTRIES + at) if at < peek(mem, main + COUNT) else NIL


@kernel
def advance(mem: Handle, cursor: Array, out: Array) -> Word:
    """Write the next S-nodes into `out` and return how many: fewer than its length only at the end.

    The caller must be pinned. As long as the root's generation is registered, the S-nodes and the cursor stay valid
    without a pin: the main of a frozen I-node is settled when it is read first.
    """
    found = 0
    while found < len(out) and cursor[0] > 0:
        top = 2 * cursor[0] - 1
        slot = next_slot(mem, cursor[top], cursor[top + 1])
        cursor[top + 1] += ONE
        if slot == NIL:
            cursor[0] -= ONE
        elif is_child(slot):
            cursor[0] += ONE
            cursor[top + 2] = gcas_read(mem, READ_ONLY, slot & UNTAG)
            cursor[top + 3] = 0
        else:
            out[found] = slot
            found += 1
    return found


@kernel
def count(mem: Handle, root: Word, cursor: Array, out: Array) -> Word:
    """Count the entries below a frozen root I-node; `cursor` and `out` are scratch. The caller must be pinned."""
    start(mem, root, cursor)
    total = 0
    while True:
        found = advance(mem, cursor, out)
        total += found
        if found < len(out):
            return total
