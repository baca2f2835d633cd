"""W2 (Workiva): a removal from an L-node whose GCAS failed answers "absent" instead of trying again.

Shortest: A is about to install the L-node without its key; B changes another key of the same L-node; A's
compare-and-swap fails, and A reports as absent what is there.
"""

from latchfree.arena.kernels.allocator import URGENT, failed
from latchfree.atomics import peek, poke
from latchfree.ctrie.kernels.gcas import COMMITTED, gcas, gcas_read, read_root
from latchfree.ctrie.kernels.insert import FULL, IF_EQUAL
from latchfree.ctrie.kernels.mains import NOWHERE, find, without_entry
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    ENTRIES,
    L_NODE,
    NIL,
    ONE,
    STRIDE,
    T_NODE,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.remove import clean_path
from latchfree.ctrie.kernels.remove import remove as remove_right
from latchfree.ctrie.kernels.shape import P_PATH
from latchfree.ctrie.kernels.snode import full_hash, placed, same_value
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word


@kernel
def remove(mem: Handle, trie: Word, me: Word, key: Key, mode: Word, expected: Word) -> Word:
    """Answer "absent" where the GCAS of an L-node fails, instead of beginning anew."""
    h = placed(mem, trie, full_hash(key))
    i = read_root(mem, trie)
    startgen = gen_of(mem, i)
    depth = NIL
    while True:
        poke(mem, me + P_PATH + depth, i)
        m = gcas_read(mem, trie, i)
        if kind_of(mem, m) != C_NODE:
            break
        slot = slot_for(mem, m, h, depth * STRIDE)
        if not is_child(slot) or gen_of(mem, slot & UNTAG) != startgen:
            break
        i = slot & UNTAG
        depth += ONE
    at = find(mem, m, key) if kind_of(mem, m) == L_NODE else NOWHERE
    if at == NOWHERE:
        return remove_right(mem, trie, me, key, mode, expected)
    old = peek(mem, m + ENTRIES + at)
    if mode == IF_EQUAL and not same_value(mem, old, key, expected):
        return NIL
    if not begin(mem, me, URGENT):
        return FULL
    new = without_entry(mem, me, m, at, startgen)
    if failed(mem, me):
        return FULL
    if gcas(mem, trie, i, m, new) != COMMITTED:
        return NIL  # the real one begins anew
    if kind_of(mem, new) == T_NODE:
        clean_path(mem, trie, me, depth, h, startgen)
    return old
