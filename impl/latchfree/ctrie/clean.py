"""Getting rid of tombs: compress a C-node, and pull a tombed child up into its parent.

Invariant: an I-node leaves the trie only after a T-node was committed in it, and a T-node is never replaced, so
no insert can be lost below an I-node that has been unlinked (mutant N2). A tomb holds one S-node, which the
parent's new C-node takes over in the same compare-and-swap that drops the I-node: no key is ever missing.
"""

from latchfree.arena.allocator import begin, undo
from latchfree.atomics import peek
from latchfree.ctrie.cnode import compressed, updated_contracted
from latchfree.ctrie.gcas import COMMITTED, LOST, gcas, gcas_read, read_root
from latchfree.ctrie.nodes import (
    ATTEMPT_WORDS,
    C_NODE,
    CHILD,
    NIL,
    T_NODE,
    TOMBED,
    gen_of,
    kind_of,
    slot_for,
)
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.words import flag_of


@kernel
def clean(mem: Handle, trie: Word, me: Word, parent: Word, level: Word) -> Flag:
    """Compress the C-node of `parent`, whose level is `level`. False: no room. A lost race is no harm."""
    m = gcas_read(mem, trie, parent)
    if kind_of(mem, m) != C_NODE:
        return True
    if not begin(mem, me, ATTEMPT_WORDS):
        return False
    new = compressed(mem, trie, me, m, level, gen_of(mem, parent))
    # spec: Ctrie!GcasCas
    if new == NIL or gcas(mem, trie, parent, m, new) == LOST:
        undo(mem, me)
    return True


@kernel
def clean_parent(
    mem: Handle, trie: Word, me: Word, parent: Word, i: Word, h: Word, level: Word, startgen: Word
) -> None:
    """If I-node `i` is tombed, put its S-node in its place in `parent` (at `level`).

    Gives up when the slot no longer points to `i` (somebody did it), when a snapshot has changed the generation,
    or when memory is short: a tomb left behind is correct, and the next operation that meets it cleans it.
    """
    while True:
        tomb = gcas_read(mem, trie, i)
        if kind_of(mem, tomb) != T_NODE:
            return
        m = gcas_read(mem, trie, parent)
        if kind_of(mem, m) != C_NODE or slot_for(mem, m, h, level) != i | CHILD:
            return
        if not begin(mem, me, ATTEMPT_WORDS):
            return
        snode = peek(mem, tomb + TOMBED)
        new = updated_contracted(mem, me, m, flag_of(h, level), snode, level, gen_of(mem, parent))
        outcome = gcas(mem, trie, parent, m, new)
        if outcome == COMMITTED:
            return
        if outcome == LOST:
            undo(mem, me)
        if gen_of(mem, read_root(mem, trie)) != startgen:
            return
