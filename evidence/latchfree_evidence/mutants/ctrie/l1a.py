"""L1a (Workiva): an insert into an L-node puts the entry in front, also where the key is there already.

No concurrency is needed: put a key twice among others of the same hash, remove it, and its first value is back.
"""

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.ctrie.kernels.mains import new_lnode
from latchfree.ctrie.kernels.nodes import COUNT, ENTRIES, NIL, ONE
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def with_entry(mem: Handle, me: Word, node: Word, at: Word, snode: Word, gen: Word) -> Word:
    """Put the entry in front, also where the L-node has its key already."""
    count = peek(mem, node + COUNT)
    new = new_lnode(mem, me, count + ONE, gen)
    if new == NIL:
        return NIL
    poke(mem, new + ENTRIES, snode)
    for k in range(count):  # the real one replaces the entry at index `at`, if there is one
        poke(mem, new + ENTRIES + np.uint64(k) + ONE, peek(mem, node + ENTRIES + np.uint64(k)))
    return new
