"""Participants: who may allocate. A slot is claimed by compare-and-swap and released when its thread ends.

Example: slot 3 is free. A thread changes its state from 0 to the identity of its process by compare-and-swap, and owns
the free lists and the limbo that the previous owner left there. At its end it sets the state to 0 again.

Invariant: the private words of a slot (chunk, free lists, limbo) are touched only by the thread that moved its
state from free to claimed. Release publishes them to the next claimant, who goes on with them. A slot whose
process has died is adopted: any process that notices the death releases the slot. At the instant of the death the
private words were, as always, fit to be taken over.
"""

import numpy as np

from latchfree.arena.kernels.epochs import drain, try_advance
from latchfree.arena.layout import (
    H_CLAIMED,
    H_PARTICIPANT_COUNT,
    P_DEFERRED,
    P_FD,
    P_INCARNATION,
    P_OLDEST,
    P_PIN,
    P_STATE,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import barrier, cas, fetch_max, load, peek, poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)

#: State of a slot that nobody owns. That of any other is the identity of its owner's process, one word, so that
#: a slot is never claimed by nobody knows whom.
FREE = np.uint64(0)

#: More than an arena can hold.
EVERYTHING = np.uint64(1 << 62)

_OFFSET = np.uint64((1 << 40) - 1)  # a link may carry tags above it


@entry
def claim(mem: Handle, identity: Word, descriptor: Word) -> Word:
    """Claim a slot; return its offset, or 0 when all are taken.

    `identity` is that of the calling process; `descriptor` is the file descriptor of the region in the process, plus
    one, or 0 where the region has no file.
    """
    for k in range(peek(mem, H_PARTICIPANT_COUNT)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        # Before the claim: an advancing thread must look at a slot before anything can be pinned in it.
        fetch_max(mem, H_CLAIMED, np.uint64(k) + _1)
        # The successful CAS acquires what the last owner's release published.
        if load(mem, slot + P_STATE) == FREE and cas(mem, slot + P_STATE, FREE, identity):
            poke(mem, slot + P_FD, descriptor)
            # Release: whoever reads incarnations (`ctrie.kernels.registry`) must not take us for our predecessor.
            store(mem, slot + P_INCARNATION, peek(mem, slot + P_INCARNATION) + _1)
            return slot
    return _0


@entry
def release(mem: Handle, slot: Word) -> None:
    """Give a slot up; its memory goes to the next claimant."""
    # Release order: the private words written so far must be visible to whoever claims the slot next.
    store(mem, slot + P_STATE, FREE)


@entry
def adopt(mem: Handle, slot: Word, identity: Word, me: Word) -> Flag:
    """Release the slot of a dead process `identity`; `me` is the identity of the caller. True if this call did so."""
    # Fails if somebody was faster, even if the slot is in use again.
    if not cas(mem, slot + P_STATE, identity, me):
        return False
    # Release: the dead thread's reads are over.
    store(mem, slot + P_PIN, _0)
    store(mem, slot + P_STATE, FREE)
    return True


@kernel
def _inherit(mem: Handle, slot: Word, me: Word) -> None:
    """Move what is deferred in a slot to the caller's list. Killed meanwhile, one thing is lost."""
    while peek(mem, slot + P_DEFERRED) != _0:
        thing = peek(mem, slot + P_DEFERRED)
        offset = thing & _OFFSET
        poke(mem, slot + P_DEFERRED, peek(mem, offset))
        barrier(mem)
        poke(mem, offset, peek(mem, me + P_DEFERRED))
        barrier(mem)
        poke(mem, me + P_DEFERRED, thing)


@entry
def collect(mem: Handle, me: Word) -> None:
    """Free what can be freed of the caller's own limbo and of the limbos of slots that nobody owns.

    Deferred things, which their structures free, are on the caller's list `P_DEFERRED` afterwards.
    """
    try_advance(mem)
    drain(mem, me, EVERYTHING)
    for k in range(load(mem, H_CLAIMED)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        if peek(mem, slot + P_OLDEST) | peek(mem, slot + P_DEFERRED) == _0 or load(mem, slot + P_STATE) != FREE:
            continue
        if cas(mem, slot + P_STATE, FREE, peek(mem, me + P_STATE)):
            poke(mem, slot + P_FD, peek(mem, me + P_FD))
            drain(mem, slot, EVERYTHING)
            _inherit(mem, slot, me)
            store(mem, slot + P_STATE, FREE)
