"""Helping on the way: renew a child of an older generation, and clean tombs.

Example: after a snapshot, a put meets a child I-node of the generation before. `renew` replaces the C-node above it by
one whose child is of the new generation, and the put goes on. A lookup that meets a tomb has `clean` compress the
C-node above it; a remove that has made a tomb pulls it up with `clean_parent`.

Invariant: an I-node leaves the trie only after a T-node was committed in it, and a T-node is never replaced, so
no insert can be lost below an I-node that has been unlinked (mutant N2). A tomb holds one S-node, which the
parent's new C-node takes over in the same compare-and-swap that drops the I-node: no key is ever missing.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT, failed, undo
from latchfree.atomics import peek, popcount
from latchfree.ctrie.kernels.gcas import COMMITTED, NO_MEMORY, conclude, gcas_read, read_root
from latchfree.ctrie.kernels.mains import compressed, renewed, updated_contracted
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    C_NODE,
    CHILD,
    MAIN,
    NIL,
    ONE,
    SLOTS,
    T_NODE,
    TOMBED,
    UNTAG,
    gen_of,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.retirement import begin_retiring, finish_retiring, retire_node, retire_pair
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.words import flag_of

TWO = np.uint64(2)


@kernel
def renew(mem: Handle, trie: Word, me: Word, i: Word, m: Word, child: Word, flag: Word, gen: Word) -> Word:
    """Bring `child`, in the slot of `flag` in the main `m` of `i`, to `gen`: an outcome of `gcas`, or NO_MEMORY."""
    if not begin(mem, me, URGENT):
        return NO_MEMORY
    outcome = conclude(mem, trie, me, i, m, renewed(mem, trie, me, m, flag, gen))
    if outcome == COMMITTED:
        retire_pair(mem, trie, me, gen, m, child)  # the child's main lives on in the copy
    return outcome


@kernel
def _retire_compressed(mem: Handle, trie: Word, me: Word, m: Word, new: Word, gen: Word) -> None:
    """Retire C-node `m`, which `new` has replaced, and the tombed children that `new` lacks."""
    slots = popcount(peek(mem, m + BITMAP))
    begin_retiring(mem, trie, me, gen, slots * TWO + ONE)
    for k in range(slots):
        slot = peek(mem, m + SLOTS + np.uint64(k))
        # A tomb made of a single slot holds the S-node of that slot.
        if kind_of(mem, new) == T_NODE or slot != peek(mem, new + SLOTS + np.uint64(k)):
            i = slot & UNTAG
            retire_node(mem, me, peek(mem, i + MAIN))  # the T-node, which nothing ever replaces
            retire_node(mem, me, i)
    retire_node(mem, me, m)
    finish_retiring(mem, me)


@kernel
def clean(mem: Handle, trie: Word, me: Word, parent: Word, level: Word) -> Flag:
    """Compress the C-node of `parent`, whose level is `level`. False: no room. A lost race does no harm."""
    m = gcas_read(mem, trie, parent)
    if kind_of(mem, m) != C_NODE:
        return True
    if not begin(mem, me, URGENT):
        return False
    gen = gen_of(mem, parent)
    new = compressed(mem, trie, me, m, level, gen)
    if failed(mem, me):
        return False
    if new == NIL:
        undo(mem, me)
    elif conclude(mem, trie, me, parent, m, new) == COMMITTED:
        _retire_compressed(mem, trie, me, m, new, gen)
    return True


@kernel
def clean_parent(
    mem: Handle, trie: Word, me: Word, parent: Word, i: Word, h: Word, level: Word, startgen: Word
) -> None:
    """Put the S-node of I-node `i`, if it is tombed, in its place in `parent` (at `level`).

    Give up when the slot no longer points to `i` (another thread was faster), when a snapshot has changed the
    generation, or when memory is short. A tomb left behind is correct; the next operation that meets it cleans it.
    """
    while True:
        tomb = gcas_read(mem, trie, i)
        if kind_of(mem, tomb) != T_NODE:
            return
        m = gcas_read(mem, trie, parent)
        if kind_of(mem, m) != C_NODE or slot_for(mem, m, h, level) != i | CHILD:
            return
        if not begin(mem, me, URGENT):
            return
        snode = peek(mem, tomb + TOMBED)
        gen = gen_of(mem, parent)
        new = updated_contracted(mem, me, m, flag_of(h, level), snode, level, gen)
        outcome = conclude(mem, trie, me, parent, m, new)
        if outcome == COMMITTED:
            begin_retiring(mem, trie, me, gen, TWO + ONE)
            retire_node(mem, me, m)
            retire_node(mem, me, i)
            retire_node(mem, me, tomb)
            finish_retiring(mem, me)
            return
        if outcome == NO_MEMORY or gen_of(mem, read_root(mem, trie)) != startgen:
            return
