"""F1: the head of a shared free list has no version (ABA).

Shortest: A reads that batch 2 is on top, with batch 1 below it. B takes both and puts batch 2 back. A's
compare-and-swap finds batch 2 on top, and makes batch 1 the top, which B has in use.
"""

import numpy as np

from latchfree.arena.kernels.freelists import batch_of
from latchfree.arena.layout import P_FREE, P_LENGTH, SHARED_LISTS
from latchfree.atomics import cas, load, poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_OFFSET = np.uint64((1 << 40) - 1)


@kernel
def refill(mem: Handle, me: Word, kind: Word) -> Word:
    """Take a batch; the head is what it was if its batch is."""
    while True:
        old = load(mem, SHARED_LISTS + kind)
        first = old & _OFFSET
        if first == _0:
            return _0
        below = load(mem, first + _1) & _OFFSET
        now = load(mem, SHARED_LISTS + kind)
        if now & _OFFSET == first and cas(mem, SHARED_LISTS + kind, now, below | (now & ~_OFFSET)):
            poke(mem, me + P_FREE + kind, first)
            poke(mem, me + P_LENGTH + kind, batch_of(kind))
            return first
