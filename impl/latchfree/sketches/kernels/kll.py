"""KLL: a few of the items of a long list, with weights, so that the rank of any item is nearly right.

Example: with room for 200 items, a million are remembered as some 600, in 14 levels; an item of level 3 stands for
eight. The median of these is an item whose true rank is within a percent of the middle.

Invariant: the items of a lane, each as often as its weight, are as many as were added to it.

Where an item is, see `latchfree.sketches.kernels.lanes`; how the levels shrink,
`latchfree.sketches.kernels.compacting`. Items are words here, in the order of words.
"""

import numpy as np

from latchfree.atomics import load, peek, poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.compacting import coin_of, halve, rebuild, sort, widen
from latchfree.sketches.kernels.lanes import (
    COINS,
    COPY_HEAD,
    LANES,
    ROOM,
    STATE,
    claim,
    copy_at,
    copy_words,
    lane_words,
    publish,
    read_lane,
    release,
    work_at,
)
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SEED, enter, leave, note_added
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


@kernel
def seed_of(mem: Handle, record: Word, lane: Word) -> Word:
    """Return the seed of a lane's coins."""
    return mix(peek(mem, record + SEED) + (lane - record))


@kernel
def sorted_items(mem: Handle, copy: Word, room: Word, given: Word) -> Word:
    """Return the offset of the items of a full level 0, sorted, in one of the two places from `given` on."""
    for k in range(room):
        poke(mem, given + np.uint64(k), peek(mem, copy + COPY_HEAD + np.uint64(k)))
    return sort(mem, given, room, given + room)


@kernel
def flush(mem: Handle, record: Word, lane: Word, version: Word) -> None:
    """Compact a full level 0 into the levels above it, in the other copy."""
    room, seed = peek(mem, record + ROOM), seed_of(mem, record, lane)
    old, new, work = copy_at(lane, version, room), copy_at(lane, version + _1, room), work_at(lane, room)
    items = sorted_items(mem, old, room, work + room)
    widen(mem, old, new, peek(mem, items), peek(mem, items + room - _1))
    left = room & _1
    if left != _0:
        # spec: Lanes!Rebuild -- release: an odd item stays.
        store(mem, new + COPY_HEAD, peek(mem, items))
    coin = coin_of(seed, peek(mem, old + COINS) + _1)
    count = halve(mem, items + left, room - left, coin, work)
    rebuild(mem, old, new, room, seed, _1, work, count, work + room)
    publish(mem, lane, (version + _1) << _32 | left)


@kernel
def add(mem: Handle, record: Word, lane: Word, item: Word) -> None:
    """Add an item to a lane that the caller holds."""
    room = peek(mem, record + ROOM)
    # spec: none -- acquire: nobody else writes while the lane is held.
    state = load(mem, lane + STATE)
    count = state & _LOW
    # spec: Lanes!WriteItem -- release: before STATE counts the item.
    store(mem, copy_at(lane, state >> _32, room) + COPY_HEAD + count, item)
    if count + _1 < room:
        publish(mem, lane, state + _1)
    else:
        flush(mem, record, lane, state >> _32)


@kernel
def absorb(mem: Handle, record: Word, lane: Word, level: Word, count: Word, least: Word, greatest: Word) -> None:
    """Add sorted items of a level above 0, which are in the place to work in; and widen the bounds."""
    room, seed = peek(mem, record + ROOM), seed_of(mem, record, lane)
    # spec: none -- acquire, as in `add`.
    state = load(mem, lane + STATE)
    version, work = state >> _32, work_at(lane, room)
    old, new = copy_at(lane, version, room), copy_at(lane, version + _1, room)
    widen(mem, old, new, least, greatest)
    for k in range(state & _LOW):
        # spec: Lanes!Rebuild -- release.
        store(mem, new + COPY_HEAD + np.uint64(k), peek(mem, old + COPY_HEAD + np.uint64(k)))
    rebuild(mem, old, new, room, seed, level, work, count, work + room)
    publish(mem, lane, (version + _1) << _32 | (state & _LOW))


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, who: Word, item: Word) -> Word:
    """Add an item; 1, or 0 if all lanes are held, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    lane = claim(mem, me, record, who)
    if lane != _0:
        add(mem, record, lane, item)
        release(mem, lane)
        note_added(mem, record, _1)
    leave(mem, me)
    return _1 if lane != _0 else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, who: Word, items: Array) -> Word:
    """Add items; 1, or 0 if all lanes are held, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    lane = claim(mem, me, record, who)
    if lane != _0:
        for k in range(len(items)):
            add(mem, record, lane, items[k])
        release(mem, lane)
        note_added(mem, record, np.uint64(len(items)))
    leave(mem, me)
    return _1 if lane != _0 else _0


@kernel
def absorb_many(
    mem: Handle, me: Word, record: Word, number: Word, who: Word, level: Word, bounds: Array, items: Array
) -> Word:
    """Add items of a level, of which there are at most as many as the highest level has room for.

    Above level 0 they are sorted, and `bounds` are the least and the greatest item of all that these stand for.
    Returns as `add_many`.
    """
    if not enter(mem, me, record, number):
        return GONE
    lane = claim(mem, me, record, who)
    if lane != _0:
        if level == _0:
            for k in range(len(items)):
                add(mem, record, lane, items[k])
        else:
            work = work_at(lane, peek(mem, record + ROOM))
            for k in range(len(items)):
                poke(mem, work + np.uint64(k), items[k])
            absorb(mem, record, lane, level, np.uint64(len(items)), bounds[0], bounds[1])
        release(mem, lane)
    leave(mem, me)
    return _1 if lane != _0 else _0


@kernel
def read(mem: Handle, me: Word, record: Word, number: Word, out: Array) -> Word:
    """Copy STATE and copy in use of each lane, each lane as it was at an instant; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    room = peek(mem, record + ROOM)
    for k in range(peek(mem, record + LANES)):
        lane = record + FIRST_CELL + np.uint64(k) * lane_words(room)
        read_lane(mem, lane, room, out, np.uint64(k) * (_1 + copy_words(room)))
    leave(mem, me)
    return _1


@kernel
def count_added(mem: Handle, me: Word, record: Word, number: Word, count: Word) -> Word:
    """Count items that were merged; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    note_added(mem, record, count)
    leave(mem, me)
    return _1
