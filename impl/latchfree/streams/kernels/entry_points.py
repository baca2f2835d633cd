"""The entry points of rings: what Python calls, one value at a time with the interpreter lock, or many without it.

In each, `me` is the participant that the caller uses the ring of a shared arena with, or 0 for a ring of a private one.
"""

import numpy as np

from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.atomics import poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.streams.kernels import counts, parking, roster, shutting
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.layout import (
    GET_WAITS,
    GONE,
    HEADER,
    NEWS,
    NUMBER,
    PUT_WAITS,
    REFUSED_GETS,
    REFUSED_PUTS,
    ROOM,
)
from latchfree.streams.kernels.positions import CELL_SHIFT

_0 = np.uint64(0)
_1 = np.uint64(1)
_ALIGN = np.uint64(15)

#: Beside the outcomes of `ring`: there is no ring of that number any more.
MISSING = np.uint64(6)
#: Added to an outcome: sleepers are to be woken.
TELL = np.uint64(8)
#: What `count` and `arm` return if there is no ring of that number.
NO_COUNT = np.uint64((1 << 64) - 1)


@entry
def create(mem: Handle, me: Word, identity: Word, number: Word, mask: Word, weak: Word) -> tuple[Word, Word]:
    """Return the offset of a new, empty ring and its slot in the roster; 0 and 0 if the arena has no room.

    An `identity` of 0 stands for a private arena, which needs no roster.
    """
    slot = _0
    if identity != _0:
        roster.sweep(mem, me, identity)
        slot = roster.take_slot(mem, me, identity)
        if slot == _0:
            return _0, _0
    header = take(mem, me, roster.HEADER_WORDS, _0)
    cells = _0 if header == _0 else take(mem, me, round_up((mask + _1) << CELL_SHIFT), _0)
    if cells == _0:
        if header != _0:
            give(mem, me, header, roster.HEADER_WORDS)
        if slot != _0:
            store(mem, slot + roster.OWNER, _0)
        return _0, _0
    ring = (header + _ALIGN) & ~_ALIGN
    r.format_ring(mem, ring, cells, mask, weak, _0)
    poke(mem, ring + NUMBER, number)
    poke(mem, ring + HEADER, header)
    poke(mem, ring + GONE, _0)
    if slot != _0:
        store(mem, slot + roster.RING, ring)
    return ring, slot


@entry
def free(mem: Handle, me: Word, ring: Word) -> None:
    """Free a ring of a private arena, which nobody uses any more."""
    poke(mem, ring + NUMBER, _0)
    roster.free_ring(mem, me, ring)


@entry
def drop(mem: Handle, me: Word, slot: Word) -> None:
    """Give back a ring of a shared arena, see `roster.drop`."""
    roster.drop(mem, me, slot)


@entry
def adopt(mem: Handle, slot: Word, dead: Word, identity: Word) -> None:
    """Take over the slot of a dead opening, see `roster.adopt`."""
    roster.adopt(mem, slot, dead, identity)


@entry
def sweep(mem: Handle, me: Word, identity: Word) -> None:
    """Free what an opening has given back, see `roster.sweep`."""
    roster.sweep(mem, me, identity)


@kernel
def _told(mem: Handle, ring: Word, me: Word, word: Word, outcome: Word) -> Word:
    """Leave a ring that was changed; return the outcome, and whether those who sleep on a word are to be woken."""
    woken = parking.tell(mem, ring + word)
    roster.leave(mem, me)
    return outcome | TELL if woken else outcome


@entry
def put(mem: Handle, me: Word, ring: Word, number: Word, value: Word, patience: Word) -> Word:
    """Put a value, see `ring.try_put`; or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return MISSING
    outcome = r.try_put(mem, ring, np.uint64(value), patience, me)
    if outcome == r.DONE:
        counts.note_most(mem, ring)
        return _told(mem, ring, me, NEWS, outcome)
    if outcome == r.REFUSED:
        counts.add(mem, ring + REFUSED_PUTS, _1)
    roster.leave(mem, me)
    return outcome


@entry
def get(mem: Handle, me: Word, ring: Word, number: Word, patience: Word) -> tuple[Word, Word]:
    """Get the oldest value, see `ring.try_get`; or MISSING and 0."""
    if not roster.enter(mem, me, ring, number):
        return MISSING, np.int64(0)
    outcome, value = r.try_get(mem, ring, patience, me)
    if outcome == r.DONE:
        return _told(mem, ring, me, ROOM, outcome), np.int64(value)
    if outcome == r.REFUSED:
        counts.add(mem, ring + REFUSED_GETS, _1)
    roster.leave(mem, me)
    return outcome, np.int64(value)


@entry
def count(mem: Handle, me: Word, ring: Word, number: Word) -> Word:
    """Return the number of values, see `ring.count`; or NO_COUNT."""
    if not roster.enter(mem, me, ring, number):
        return NO_COUNT
    found = r.count(mem, ring)
    roster.leave(mem, me)
    return found


@entry
def arm(mem: Handle, me: Word, ring: Word, number: Word, word: Word) -> Word:
    """Arm a word to sleep on, see `parking.arm`; or NO_COUNT."""
    if not roster.enter(mem, me, ring, number):
        return NO_COUNT
    armed = parking.arm(mem, ring + word)
    counts.add(mem, ring + (GET_WAITS if word == NEWS else PUT_WAITS), _1)
    roster.leave(mem, me)
    return armed


@entry
def note(mem: Handle, me: Word, ring: Word, number: Word, word: Word) -> None:
    """Add one to a count, if the ring is there."""
    if roster.enter(mem, me, ring, number):
        counts.add(mem, ring + word, _1)
        roster.leave(mem, me)


@entry
def shut(mem: Handle, me: Word, ring: Word, number: Word) -> Word:
    """Shut a ring down, see `shutting.shut`, and keep sleepers from falling asleep; DONE or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return MISSING
    shutting.shut(mem, ring)
    parking.tell(mem, ring + NEWS)
    parking.tell(mem, ring + ROOM)
    roster.leave(mem, me)
    return r.DONE


@entry
def mend(mem: Handle, me: Word, slot: Word) -> Word:
    """Mend the ring in a slot of the roster, see `roster.mend_slot`; return the ring if sleepers are to be woken."""
    return roster.mend_slot(mem, me, slot)


@kernel
def put_many(
    mem: Handle, me: Word, ring: Word, number: Word, first: Word, patience: Word, values: Array
) -> tuple[Word, Word]:
    """Put `values[first:]`; return how many are in now, and the outcome of the last, or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return first, MISSING
    done, outcome = r.put_batch(mem, ring, values, first, patience, me)
    if outcome == r.REFUSED:
        counts.add(mem, ring + REFUSED_PUTS, _1)
    if done == first:
        roster.leave(mem, me)
        return done, outcome
    counts.note_most(mem, ring)
    return done, _told(mem, ring, me, NEWS, outcome)


@kernel
def get_many(
    mem: Handle, me: Word, ring: Word, number: Word, first: Word, patience: Word, values: Array
) -> tuple[Word, Word]:
    """Fill `values[first:]`; return how many are there now, and the outcome of the last, or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return first, MISSING
    count, outcome = r.get_batch(mem, ring, values[np.int64(first) :], patience, me)
    if outcome == r.REFUSED and count == _0:  # a batch that has got some has emptied the ring
        counts.add(mem, ring + REFUSED_GETS, _1)
    if count == _0:
        roster.leave(mem, me)
        return first, outcome
    return first + count, _told(mem, ring, me, ROOM, outcome)
