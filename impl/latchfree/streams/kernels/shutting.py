"""Shutting a ring down: no put succeeds from an instant on, and what was put before is got.

Example: a ring holds the values at positions 0, 1 and 2, and the next put is at 3. Shutting down moves the put counter
from 3 to 3 + 2**61, by compare-and-swap. It is as if somebody had claimed all the positions from 3 on, and passed on
none: a put finds itself 2**61 positions ahead of the gets, and is told that the ring is shut. A get at position 3 finds
the counter 2**61 ahead of itself, which is told only when all values have been claimed.

Invariant: at the instant of that compare-and-swap every put has claimed its position, or never will. So no put succeeds
after a get has been told that the ring is shut.
"""

import numpy as np

from latchfree.atomics import cas, load_seq, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.streams.kernels.layout import DEQ, ENQ, SHUT_BEGUN
from latchfree.streams.kernels.positions import JUMP, is_shut

_1 = np.uint64(1)


@kernel
def shut(mem: Handle, ring: Word) -> Flag:
    """Let no put succeed from now on; return whether this call did so, and no other before."""
    # spec: none -- release, with the counter below: who has read the counter behind the end finds this word set. It
    # spares all others a look at both counters, and decides nothing.
    store(mem, ring + SHUT_BEGUN, _1)
    while True:
        # spec: RingShut!ShutReadTaken -- seq_cst, both: the gets first, so that they are not ahead of the puts.
        taken = load_seq(mem, ring + DEQ)
        # spec: RingShut!ShutReadFilled -- as above.
        filled = load_seq(mem, ring + ENQ)
        if is_shut(filled, taken):
            return False
        # LP: of a shutdown.
        # spec: RingShut!ShutJump -- seq_cst: in one order with the claims.
        if cas(mem, ring + ENQ, filled, filled + JUMP):
            return True


@kernel
def finds_shut(mem: Handle, ring: Word, position: Word) -> Flag:
    """Return whether a put at a position comes after the end."""
    # spec: RingShut!PutCheckEnd -- seq_cst, as in `ring.finds_full`; the end never moves again.
    return is_shut(position, load_seq(mem, ring + DEQ))


@kernel
def finds_drained(mem: Handle, ring: Word, position: Word) -> Flag:
    """Return whether a get at a position comes after the end."""
    # spec: RingShut!GetCheckEnd -- seq_cst, as in `ring.finds_empty`; the end never moves again.
    return load_seq(mem, ring + ENQ) - position == JUMP
