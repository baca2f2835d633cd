"""Participants: who may allocate. A slot is claimed by compare-and-swap and released when its thread ends.

Invariant: the private words of a slot (chunk, free lists, limbo) are touched only by the thread that moved its
state from free to claimed. Release publishes them to the next claimant, who goes on with them. A slot whose
process has died is released by whoever notices: at the instant of its death its private words were, as always,
fit to be taken over.
"""

import numpy as np

from latchfree.arena.epochs import drain, try_advance
from latchfree.arena.layout import (
    H_CLAIMED,
    H_PARTICIPANT_COUNT,
    P_FD,
    P_INCARNATION,
    P_PID,
    P_PIN,
    P_START,
    P_STATE,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import cas, fetch_max, load, peek, poke, store
from latchfree.jit import entry
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)

FREE = np.uint64(0)
CLAIMED = np.uint64(1)
#: Being emptied or released by another thread.
BORROWED = np.uint64(2)

_EVERYTHING = np.uint64(1 << 62)


@entry
def claim(mem: Handle, pid: Word, start: Word, descriptor: Word) -> Word:
    """Offset of a slot now owned by the caller, or 0 when all are taken.

    `descriptor` is the file descriptor of the region in this process, plus one; 0 where it has no file.
    """
    for k in range(peek(mem, H_PARTICIPANT_COUNT)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        # Before the claim: an advancing thread must look at a slot before anything can be pinned in it.
        fetch_max(mem, H_CLAIMED, np.uint64(k) + _1)
        # The successful CAS acquires what the last owner's release published.
        if load(mem, slot + P_STATE) == FREE and cas(mem, slot + P_STATE, FREE, BORROWED):
            poke(mem, slot + P_PID, pid)
            poke(mem, slot + P_START, start)
            poke(mem, slot + P_FD, descriptor)
            poke(mem, slot + P_INCARNATION, peek(mem, slot + P_INCARNATION) + _1)
            # Release: whoever sees the slot claimed sees by whom.
            store(mem, slot + P_STATE, CLAIMED)
            return slot
    return _0


@entry
def release(mem: Handle, slot: Word) -> None:
    """Give the slot up; its memory goes to the next claimant."""
    # Release order: the private words written so far must be visible to whoever claims the slot next.
    store(mem, slot + P_STATE, FREE)


@entry
def adopt(mem: Handle, slot: Word, pid: Word, start: Word) -> Flag:
    """Release the slot of a process that is dead; True if this call did it."""
    if not cas(mem, slot + P_STATE, CLAIMED, BORROWED):
        return False
    # Somebody may have adopted the slot and claimed it anew since the caller looked.
    if peek(mem, slot + P_PID) != pid or peek(mem, slot + P_START) != start:
        store(mem, slot + P_STATE, CLAIMED)
        return False
    # Release: the dead thread's reads are over.
    store(mem, slot + P_PIN, _0)
    poke(mem, slot + P_PID, _0)
    store(mem, slot + P_STATE, FREE)
    return True


@entry
def collect(mem: Handle, me: Word) -> None:
    """Free what can be freed of the caller's own limbo and of those of slots that nobody owns."""
    try_advance(mem)
    drain(mem, me, _EVERYTHING)
    for k in range(load(mem, H_CLAIMED)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        if load(mem, slot + P_STATE) == FREE and cas(mem, slot + P_STATE, FREE, BORROWED):
            poke(mem, slot + P_FD, peek(mem, me + P_FD))
            drain(mem, slot, _EVERYTHING)
            store(mem, slot + P_STATE, FREE)
