"""A topic trie as a whole: making an empty one, and reading all of a frozen one."""

from __future__ import annotations

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import poke
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import CHILD, NIL, ONE, is_child
from latchfree.ctrie.kernels.scan import next_slot
from latchfree.ctrie.kernels.shape import NUMBERS, PLAIN
from latchfree.ctrie.kernels.snapshot import new_trie
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word


@kernel
def create(mem: Handle, hash_mask: Word, me: Word, number: Word) -> Word:
    """Make an empty topic trie whose first subscription gets number `number`; return its word, or FULL."""
    trie = new_trie(mem, me, hash_mask)
    if trie != FULL:
        poke(mem, trie + NUMBERS, number)
    return trie


@kernel
def scan(mem: Handle, root: Word, me: Word, stack: Array, found: Array) -> Word:
    """Put the S-nodes below a frozen root into `found`; return their number, a larger one if an array is too short."""
    pin(mem, me)
    stack[0] = root | CHILD
    height = 1
    count = 0
    while height > 0:
        height -= 1
        slot = stack[height]
        if not is_child(slot):
            if count < len(found):
                found[count] = slot
            count += 1
            continue
        m = gcas_read(mem, READ_ONLY, slot & PLAIN)
        at = NIL
        while next_slot(mem, m, at) != NIL:
            if height == len(stack):
                unpin(mem, me)
                return max(len(stack), len(found)) + 1
            stack[height] = next_slot(mem, m, at)
            height += 1
            at += ONE
    unpin(mem, me)
    return count
