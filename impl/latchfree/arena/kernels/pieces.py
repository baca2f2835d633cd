"""Take all free pieces off their lists, and put pieces back: the two passes of `Arena.merge`.

Invariant: a piece is on a list or in the caller's arrays, never in both. A process that is killed in between loses the
pieces in its arrays, until `latchfree arena fsck`.
"""

import numpy as np

from latchfree.arena.kernels.blocks import give_spares
from latchfree.arena.kernels.freelists import CLASSES, class_size, piece_of, put_back, refill, size_class
from latchfree.arena.kernels.participants import FREE
from latchfree.arena.layout import (
    H_CLAIMED,
    P_BUMP,
    P_FREE,
    P_LENGTH,
    P_LIMIT,
    P_STATE,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import barrier, cas, load, peek, poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)


@kernel
def _empty_list(mem: Handle, owner: Word, kind: Word, starts: Array, ends: Array, found: Word) -> Word:
    """Take all nodes off a private list, as far as the arrays have room; return how many are in the arrays now."""
    head = owner + P_FREE + kind
    poke(mem, owner + P_LENGTH + kind, _0)
    barrier(mem)
    while found < len(starts) and peek(mem, head) != _0:
        node = peek(mem, head)
        poke(mem, head, peek(mem, node))
        barrier(mem)
        starts[found] = node
        ends[found] = node + class_size(kind)
        found += _1
    return found


@kernel
def _empty_owner(mem: Handle, owner: Word, starts: Array, ends: Array, found: Word) -> Word:
    """Take everything free off a participant; return how many pieces are in the arrays now."""
    bump, limit = peek(mem, owner + P_BUMP), peek(mem, owner + P_LIMIT)
    if bump < limit and found < len(starts):
        poke(mem, owner + P_BUMP, limit)
        barrier(mem)
        starts[found] = bump
        ends[found] = limit
        found += _1
    for kind in range(CLASSES):
        found = _empty_list(mem, owner, np.uint64(kind), starts, ends, found)
    return found


@entry
def gather(mem: Handle, me: Word, other: Word, starts: Array, ends: Array) -> Word:
    """Take the free pieces of the caller's slots, of slots without owner, and of shared lists; return how many."""
    found = _empty_owner(mem, me, starts, ends, _0)
    if other != _0:
        # The caller may lack nothing but blocks to retire into, which must be of one piece.
        give_spares(mem, other)
        found = _empty_owner(mem, other, starts, ends, found)
    for k in range(load(mem, H_CLAIMED)):
        slot = _FIRST + np.uint64(k) * _STRIDE
        if load(mem, slot + P_STATE) == FREE and cas(mem, slot + P_STATE, FREE, peek(mem, me + P_STATE)):
            found = _empty_owner(mem, slot, starts, ends, found)
            store(mem, slot + P_STATE, FREE)
    for kind in range(CLASSES):
        while found < len(starts) and refill(mem, me, np.uint64(kind)) != _0:
            found = _empty_list(mem, me, np.uint64(kind), starts, ends, found)
    return found


@entry
def scatter(mem: Handle, me: Word, starts: Array, ends: Array) -> None:
    """Put pieces back."""
    for k in range(len(starts)):
        at = starts[k]
        while at < ends[k]:
            size = piece_of(ends[k] - at)
            put_back(mem, me, at, size_class(size))
            at += size
