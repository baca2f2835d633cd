"""A2: a lookup that meets a tomb in a child of an older generation helps to remove the tomb.

The I-node above is of an older generation, too, so its main is never replaced: the lookup begins again and again, even
alone. Shortest: A, removing one of two keys two levels down, has made the tomb; B takes a snapshot, and looks up the
other key.
"""

from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import gcas_read, read_root
from latchfree.ctrie.kernels.helping import clean
from latchfree.ctrie.kernels.mains import NOWHERE, find
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    ENTRIES,
    NIL,
    STRIDE,
    T_NODE,
    TOMBED,
    UNTAG,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.snode import same_key
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word


@kernel
def lookup_helping(mem: Handle, trie: Word, me: Word, h: Word, key: Key) -> Word:
    """Clean whatever tomb is met."""
    while True:
        i = read_root(mem, trie)
        parent = NIL
        level = NIL
        while True:
            m = gcas_read(mem, trie, i)
            kind = kind_of(mem, m)
            if kind == C_NODE:
                slot = slot_for(mem, m, h, level)
                if slot == NIL:
                    return NIL
                if not is_child(slot):
                    return slot if same_key(mem, slot, key) else NIL
                parent = i
                i = slot & UNTAG
                level += STRIDE
            elif kind == T_NODE:
                if clean(mem, trie, me, parent, level - STRIDE):  # the real one looks at the generation of `i` first
                    break
                slot = peek(mem, m + TOMBED)
                return slot if same_key(mem, slot, key) else NIL
            else:
                at = find(mem, m, key)
                return NIL if at == NOWHERE else peek(mem, m + ENTRIES + at)
