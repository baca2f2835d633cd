"""Participants: who may allocate. A slot is claimed by compare-and-swap and released when its thread ends.

Invariant: the private words of a slot (chunk, free lists, journal) are touched only by the thread that moved
its state from free to claimed. Release publishes them to the next claimant.
"""

import numpy as np

from latchfree.arena.layout import (
    H_PARTICIPANT_COUNT,
    H_PARTICIPANTS,
    P_PID,
    P_START,
    P_STATE,
    PARTICIPANT_WORDS,
)
from latchfree.atomics import cas, peek, poke, store
from latchfree.jit import entry
from latchfree.kinds import Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_STRIDE = np.uint64(PARTICIPANT_WORDS)


@entry
def claim(mem: Handle, pid: Word, start: Word) -> Word:
    """Offset of a slot now owned by the caller, or 0 when all are taken."""
    table = peek(mem, H_PARTICIPANTS)
    for k in range(peek(mem, H_PARTICIPANT_COUNT)):
        slot = table + np.uint64(k) * _STRIDE
        # The successful CAS acquires what the last owner's release published (its chunk and free lists).
        if cas(mem, slot + P_STATE, _0, _1):
            poke(mem, slot + P_PID, pid)
            poke(mem, slot + P_START, start)
            return slot
    return _0


@entry
def release(mem: Handle, slot: Word) -> None:
    """Give the slot up; its unused memory goes to the next claimant."""
    # Release order: the private words written so far must be visible to whoever claims the slot next.
    store(mem, slot + P_STATE, _0)
