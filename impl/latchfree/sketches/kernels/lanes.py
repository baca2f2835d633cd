"""Lanes: parts of a sketch of which each has one writer at a time, and two copies, so that a killed writer spoils none.

Example: lane 0 is held by thread A, so thread B takes lane 1. A appends an item behind those of the copy in use, and
then says how many there are. When the place for new items is full, A writes a smaller version of everything into the
other copy, and then says that the other one is in use. If A is killed before that, the old copy still has all items.

Invariant: what STATE says is whole. Behind the items that STATE counts, and in the copy that is not in use, nobody
reads; and whoever reads a copy looks again whether it is still in use.

A lane is held only inside of one call, by a claim that no other call has. Whoever finds the holder outside of any call
(a slot of the arena that is not pinned, or, in private memory, another process, of which this one is a fork) takes the
lane over. ``spec/Lanes.tla`` is this in TLA+.
"""

import numpy as np

from latchfree.arena.layout import P_PIN
from latchfree.atomics import cas, fetch_add, load, load_seq, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, SHAPE, TICKET

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_32 = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)

# The shape.
ROOM = SHAPE  # items of level 0, and of the highest level
LANES = SHAPE + np.uint64(1)

# The words of a lane: these, two copies, and a place to work in.
OWNER = np.uint64(0)  # who holds the lane, above 32 bits of a ticket; 0: nobody
STATE = np.uint64(1)  # how many copies were finished, above 32 bits: how many items of level 0 there are
LANE_HEAD = np.uint64(8)

# The words of a copy: these, the size of each level, level 0, and the levels above it, each sorted, the lowest first.
LEVELS = np.uint64(0)  # the highest level
COINS = np.uint64(1)  # how many coins were tossed
USED = np.uint64(2)  # items above level 0
UNDER = np.uint64(3)  # complement of the least item ever, but for those in level 0; 0 if there is none
GREATEST = np.uint64(4)  # the greatest
SIZES = np.uint64(8)
MOST_LEVELS = np.uint64(56)
COPY_HEAD = SIZES + MOST_LEVELS


@kernel
def above(room: Word) -> Word:
    """Return the most items above level 0: the levels shrink by a third each, to 8; one more may be on top."""
    return np.uint64(4) * room + np.uint64(8) * MOST_LEVELS


@kernel
def copy_words(room: Word) -> Word:
    """Return the words of a copy."""
    return COPY_HEAD + room + above(room)


@kernel
def lane_words(room: Word) -> Word:
    """Return the words of a lane; the place to work in has room for a list of a level, and two of three each."""
    return LANE_HEAD + _2 * copy_words(room) + np.uint64(7) * room


@kernel
def work_at(lane: Word, room: Word) -> Word:
    """Return the offset of the place to work in."""
    return lane + LANE_HEAD + _2 * copy_words(room)


@kernel
def copy_at(lane: Word, version: Word, room: Word) -> Word:
    """Return the offset of the copy that is in use after so many were finished."""
    return lane + LANE_HEAD + (version & _1) * copy_words(room)


@kernel
def is_stale(mem: Handle, me: Word, who: Word, owner: Word) -> Flag:
    """Return whether nobody can hold the lane by a claim."""
    if me == _0:
        return owner >> _32 != who
    # spec: Lanes!LookAtHolder -- seq_cst: who is in a call has pinned before the claim, and unpins after the release.
    return load_seq(mem, (owner >> _32) + P_PIN) == _0


@kernel
def claim(mem: Handle, me: Word, record: Word, who: Word) -> Word:
    """Return the offset of a lane that is the caller's alone until `release`; 0 if others hold all.

    In private memory `who` is the process, in an arena it is the participant `me`.
    """
    who = me if me != _0 else who
    words = lane_words(peek(mem, record + ROOM))
    # spec: none -- seq_cst (relaxed suffices): no two claims are the same, so a late takeover fails (mutant X16).
    mine = (who << _32) | (fetch_add(mem, record + TICKET, _1) & _LOW)
    for k in range(peek(mem, record + LANES)):
        lane = record + FIRST_CELL + np.uint64(k) * words
        # spec: Lanes!LookAtOwner -- acquire: a guess, which the claim compares.
        owner = load(mem, lane + OWNER)
        if owner != _0 and not is_stale(mem, me, who, owner):
            continue
        # spec: Lanes!Claim -- seq_cst: one of several has it, and sees all that the last holder wrote.
        if cas(mem, lane + OWNER, owner, mine):
            return lane
    return _0


@kernel
def release(mem: Handle, lane: Word) -> None:
    """Give a lane back."""
    # spec: Lanes!Release -- release: the next holder sees all that this one wrote.
    store(mem, lane + OWNER, _0)


@kernel
def publish(mem: Handle, lane: Word, state: Word) -> None:
    """Say which copy of a lane is in use, and how many items its level 0 has."""
    # spec: Lanes!Publish -- release, LP: the items were written before (mutant X14).
    store(mem, lane + STATE, state)


@kernel
def read_lane(mem: Handle, lane: Word, room: Word, out: Array, at: Word) -> None:
    """Copy STATE and the words of the copy in use, as they were at one instant; level 0 may have grown since.

    Words that nobody uses are left as they are.
    """
    while True:
        # spec: Lanes!ReadState -- seq_cst (acquire suffices): LP, if the copy is still in use at the end.
        state = load_seq(mem, lane + STATE)
        copy = copy_at(lane, state >> _32, room)
        out[at] = state
        for k in range(GREATEST + _1):
            # spec: Lanes!ReadCopy -- acquire: before STATE is read again.
            out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
        for k in range(SIZES, SIZES + min(out[at + _1 + LEVELS] + _1, MOST_LEVELS)):
            # spec: Lanes!ReadCopy
            out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
        for k in range(COPY_HEAD, COPY_HEAD + (state & _LOW)):
            # spec: Lanes!ReadCopy
            out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
        used = min(out[at + _1 + USED], above(room))
        for k in range(COPY_HEAD + room, COPY_HEAD + room + used):
            # spec: Lanes!ReadCopy
            out[at + _1 + np.uint64(k)] = load(mem, copy + np.uint64(k))
        # spec: Lanes!Recheck -- acquire: who writes into this copy has said before that it is out of use (mutant X15).
        if load(mem, lane + STATE) >> _32 == state >> _32:
            return
