"""W4 (Workiva): cleaning reads the mains of the children as they are, and resurrects a tomb that is not committed.

If a snapshot then makes the removal fail that put it there, the removal begins anew, does not find its key, which went
with the tomb, and reports it as absent. Shortest: A removes a key and leaves a tomb; B has installed a tomb in the next
child and not yet committed it; C meets A's tomb and cleans both away, then takes a snapshot; B's removal fails, and
answers "absent" for a key that nobody else has removed.
"""

import numpy as np

from latchfree.atomics import load, peek, poke, popcount
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    MAIN,
    NIL,
    ONE,
    SLOTS,
    T_NODE,
    TOMBED,
    UNTAG,
    is_child,
    kind_of,
    new_cnode,
    new_tnode,
)
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def compressed(mem: Handle, trie: Word, me: Word, c: Word, level: Word, gen: Word) -> Word:
    """Read the mains of the children as they are, also those that are not committed."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    tombs = NIL
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        if is_child(slot):
            # spec: Ctrie!GcasReadMain
            m = load(mem, (slot & UNTAG) + MAIN)  # the real one decides what is pending: gcas_read
            if kind_of(mem, m) == T_NODE:
                slot = peek(mem, m + TOMBED)
                tombs += ONE
        poke(mem, new + SLOTS + np.uint64(k), slot)
    if tombs == NIL:
        return NIL
    return new_tnode(mem, me, peek(mem, new + SLOTS), gen) if level > NIL and n == ONE else new
