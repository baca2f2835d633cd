"""A counting Bloom filter: a counter of a byte for each bit, so that items can be removed again.

Example: "tea" has four counters. Adding it twice makes each of them at least 2; removing it once leaves at least 1.

Invariant: each counter of an item is at least the number of adds of the item that have ended, less the removes that
have begun; or it has come to the top, 255, and stays there. So as long as nobody removes what was not added, who was
added and not removed is found.

A counter that is full is neither raised nor lowered from then on: what it has counted is not known any more. (The
published library let counters of four bits go around: 40 adds and 20 removes lost the item.) A counter of 0 is not
lowered, whatever is removed: it would become 255.

Source: L. Fan, P. Cao, J. Almeida, A. Broder, "Summary Cache" (2000).
"""

import numpy as np

from latchfree.atomics import cas, high_product, load, peek
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.record import CELLS, FIRST_CELL, GONE, SHAPE, enter, leave, note_added
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_STEP = np.uint64(0x9E3779B97F4A7C15)

#: What a counter counts to.
TOP = np.uint64(255)

# The shape.
WIDTH = SHAPE  # counters of a slice, a multiple of 8
SLICES = SHAPE + np.uint64(1)


@kernel
def counter_of(h: Word, k: Word, width: Word) -> Word:
    """Return the number of the counter of a hash in a slice."""
    return k * width + high_product(mix(h + (k + _1) * _STEP), width)


@kernel
def raise_counter(mem: Handle, at: Word, shift: Word, more: Word) -> None:
    """Add to a counter, up to the top."""
    while True:
        # spec: CountingBloom!Read -- acquire: an old word makes the exchange fail.
        word = load(mem, at)
        held = (word >> shift) & TOP
        new = min(held + more, TOP)
        # spec: CountingBloom!Write -- seq_cst: a store would lose what others have added meanwhile (mutant X1).
        if held == TOP or cas(mem, at, word, word + ((new - held) << shift)):
            return


@kernel
def lower_counter(mem: Handle, at: Word, shift: Word) -> None:
    """Take one from a counter, unless it is full or empty."""
    while True:
        # spec: CountingBloom!Read -- acquire, as above.
        word = load(mem, at)
        held = (word >> shift) & TOP
        # spec: CountingBloom!Write -- never below 0 (mutant X2), never from the top (mutant X3).
        if held in (TOP, _0) or cas(mem, at, word, word - (_1 << shift)):
            return


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Raise the counters of a hash."""
    width = peek(mem, record + WIDTH)
    for k in range(peek(mem, record + SLICES)):
        at = counter_of(h, np.uint64(k), width)
        raise_counter(mem, record + FIRST_CELL + (at >> _3), (at & _7) << _3, _1)


@kernel
def count(mem: Handle, record: Word, h: Word) -> Word:
    """Return the lowest counter of a hash."""
    width = peek(mem, record + WIDTH)
    least = TOP
    for k in range(peek(mem, record + SLICES)):
        at = counter_of(h, np.uint64(k), width)
        # spec: CountingBloom!Look -- acquire: sees every add that has returned before.
        least = min(least, (load(mem, record + FIRST_CELL + (at >> _3)) >> ((at & _7) << _3)) & TOP)
        if least == _0:
            return _0
    return least


@kernel
def remove(mem: Handle, record: Word, h: Word) -> Flag:
    """Lower the counters of a hash, if none of them is 0; return whether they were."""
    if count(mem, record, h) == _0:
        return False
    width = peek(mem, record + WIDTH)
    for k in range(peek(mem, record + SLICES)):
        at = counter_of(h, np.uint64(k), width)
        lower_counter(mem, record + FIRST_CELL + (at >> _3), (at & _7) << _3)
    return True


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    add(mem, record, h)
    note_added(mem, record, _1)
    leave(mem, me)
    return _1


@entry
def count_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return the lowest counter of an item; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = count(mem, record, h)
    leave(mem, me)
    return found


@entry
def remove_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Remove an item by its hash; return whether it was there, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = remove(mem, record, h)
    leave(mem, me)
    return _1 if found else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        add(mem, record, hashes[k])
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Write 1 for each item that may be there, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        found[k] = 1 if count(mem, record, hashes[k]) != _0 else 0
    leave(mem, me)
    return _1


@kernel
def remove_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Remove items, and write 1 for each that was there, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        found[k] = 1 if remove(mem, record, hashes[k]) else 0
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, added: Word) -> Word:
    """Add the counters of another filter of the same shape; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(peek(mem, record + CELLS)):
        for byte in range(8):
            shift = np.uint64(byte) << _3
            more = (theirs[k] >> shift) & TOP
            if more != _0:
                raise_counter(mem, record + FIRST_CELL + np.uint64(k), shift, more)
    note_added(mem, record, added)
    leave(mem, me)
    return _1
