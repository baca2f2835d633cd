"""The entry points of rings: what Python calls, one value at a time with the interpreter lock, or many without it.

In each, `me` is the participant that the caller pins while he uses a ring of another opening, or 0 for his own.
"""

import numpy as np

from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.atomics import poke, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels import roster
from latchfree.streams.kernels.positions import CELL_SHIFT

_0 = np.uint64(0)
_1 = np.uint64(1)
_ALIGN = np.uint64(15)

#: Beside the outcomes of `ring`: there is no ring of that number any more.
MISSING = np.uint64(6)
#: What `count` returns then.
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
    poke(mem, ring + r.NUMBER, number)
    poke(mem, ring + r.HEADER, header)
    poke(mem, ring + r.GONE, _0)
    if slot != _0:
        store(mem, slot + roster.RING, ring)
    return ring, slot


@entry
def free(mem: Handle, me: Word, ring: Word) -> None:
    """Free a ring of a private arena, which nobody uses any more."""
    poke(mem, ring + r.NUMBER, _0)
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


@entry
def put(mem: Handle, me: Word, ring: Word, number: Word, value: Word, patience: Word) -> Word:
    """Put a value, see `ring.try_put`; or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return MISSING
    outcome = r.try_put(mem, ring, np.uint64(value), patience)
    roster.leave(mem, me)
    return outcome


@entry
def get(mem: Handle, me: Word, ring: Word, number: Word, patience: Word) -> tuple[Word, Word]:
    """Get the oldest value, see `ring.try_get`; or MISSING and 0."""
    if not roster.enter(mem, me, ring, number):
        return MISSING, np.int64(0)
    outcome, value = r.try_get(mem, ring, patience)
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


@kernel
def put_many(
    mem: Handle, me: Word, ring: Word, number: Word, first: Word, patience: Word, values: Array
) -> tuple[Word, Word]:
    """Put `values[first:]`; return how many are in now, and the outcome of the last, or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return first, MISSING
    done, outcome = r.put_batch(mem, ring, values, first, patience)
    roster.leave(mem, me)
    return done, outcome


@kernel
def get_many(
    mem: Handle, me: Word, ring: Word, number: Word, first: Word, patience: Word, values: Array
) -> tuple[Word, Word]:
    """Fill `values[first:]`; return how many are there now, and the outcome of the last, or MISSING."""
    if not roster.enter(mem, me, ring, number):
        return first, MISSING
    count, outcome = r.get_batch(mem, ring, values[np.int64(first) :], patience)
    roster.leave(mem, me)
    return first + count, outcome
