"""Participants: who may allocate. A slot is claimed and released by compare-and-swap.

Example: slot 3 is free. An opening of the arena changes its state from 0 to its own identity and the incarnation of the
slot, and lends the slot to one call at a time: the call goes on with the free lists and the limbo that the previous
owner left there. Later the opening changes the state from that very word to 0 again.

Invariant: the private words of a slot (chunk, free lists, limbo) are touched only by a call of the opening that moved
the state from free to claimed. Release publishes them to the next claimant, who goes on with them. A slot whose opening
has died is adopted: any opening that knows of the death releases the slot. At the instant of the death the private
words were, as always, fit to be taken over.
"""

import numpy as np

from latchfree.arena.kernels.blocks import give_spares, push_holder
from latchfree.arena.kernels.epochs import drain, try_advance
from latchfree.arena.layout import (
    H_CLAIMED,
    H_PARTICIPANT_COUNT,
    P_DEFERRED,
    P_HOLDERS,
    P_IN_HAND,
    P_INCARNATION,
    P_OLDEST,
    P_PIN,
    P_SPARE_COUNT,
    P_STATE,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import barrier, cas, fetch_add, fetch_max, load, peek, poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)

#: State of a slot that nobody owns. That of any other has the identity of the opening that owns it, one word, so that
#: a slot is never claimed by nobody knows whom.
FREE = np.uint64(0)

#: More than an arena can hold.
EVERYTHING = np.uint64(1 << 62)

_OFFSET = np.uint64((1 << 40) - 1)  # a link may carry tags above it


@entry
def claim(mem: Handle, state: Word) -> Word:
    """Claim a slot; return its offset, or 0 when all are taken.

    `state` is the identity of the opening above 16 bits that none of its claims and adoptions has had lately.
    """
    for k in range(peek(mem, H_PARTICIPANT_COUNT)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        # Before the claim: an advancing thread must look at a slot before anything can be pinned in it.
        fetch_max(mem, H_CLAIMED, np.uint64(k) + _1)
        # spec: Lifecycle!ClaimRead, Lifecycle!Claim -- the CAS acquires what the last owner's release published.
        if load(mem, slot + P_STATE) == FREE and cas(mem, slot + P_STATE, FREE, state):
            # A structure that reads incarnations must not take us for our predecessor. They only grow, also past a
            # claimer who is stopped here.
            fetch_add(mem, slot + P_INCARNATION, _1)
            return slot
    return _0


@entry
def release(mem: Handle, slot: Word, state: Word) -> Flag:
    """Give a slot up, if its state is still that of the claim; its memory goes to the next claimant."""
    # spec: Lifecycle!Release -- the private words written so far are visible to whoever claims the slot next. A second
    # release of the same claim finds another word and changes nothing.
    return cas(mem, slot + P_STATE, state, FREE)


@entry
def adopt(mem: Handle, slot: Word, state: Word, mine: Word) -> Flag:
    """Release a slot in the state of a dead opening; `mine` is a state as for `claim`. True if this call did so."""
    # spec: Lifecycle!Adopt -- fails if somebody was faster, even if the slot is in use again.
    if not cas(mem, slot + P_STATE, state, mine):
        return False
    # spec: Lifecycle!Unpin -- release: the dead thread's reads are over.
    store(mem, slot + P_PIN, _0)
    # spec: none -- release: the dead thread has nothing in hand any more (of a ring: `RingCrash!Adopt`).
    store(mem, slot + P_IN_HAND, _0)
    # spec: Lifecycle!Free -- by CAS: the adopter may have died meanwhile, and the slot be adopted from it.
    return cas(mem, slot + P_STATE, mine, FREE)


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


@kernel
def _inherit_holders(mem: Handle, slot: Word, me: Word) -> None:
    """Move the nodes that hold something in a slot to the caller's list."""
    while peek(mem, slot + P_HOLDERS) != _0:
        node = peek(mem, slot + P_HOLDERS)
        poke(mem, slot + P_HOLDERS, peek(mem, node + _1))
        barrier(mem)
        push_holder(mem, me, node)


@entry
def collect(mem: Handle, me: Word) -> None:
    """Free what can be freed of the caller's own limbo and of the limbos and spare blocks of slots that nobody owns.

    Deferred things, which their structures free, are on the caller's list `P_DEFERRED` afterwards, and nodes that hold
    something on the list `P_HOLDERS`.
    """
    try_advance(mem)
    drain(mem, me, EVERYTHING)
    for k in range(load(mem, H_CLAIMED)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        held = peek(mem, slot + P_OLDEST) | peek(mem, slot + P_DEFERRED) | peek(mem, slot + P_HOLDERS)
        held |= peek(mem, slot + P_SPARE_COUNT)
        if held == _0 or load(mem, slot + P_STATE) != FREE:
            continue
        # spec: Lifecycle!Claim -- as one of the opening's own slots, for the time of the draining.
        if cas(mem, slot + P_STATE, FREE, peek(mem, me + P_STATE)):
            drain(mem, slot, EVERYTHING)
            _inherit(mem, slot, me)
            _inherit_holders(mem, slot, me)
            give_spares(mem, slot)
            # spec: Lifecycle!Release -- a store is enough: the claimer lives, and nobody else knows of the slot.
            store(mem, slot + P_STATE, FREE)
