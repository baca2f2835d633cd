"""A stable Bloom filter: each add lets a few cells fade, so that the filter never fills, however long the stream.

Example: an item has three cells, which its add sets to 3. Every add also lowers 36 cells beside each other by one,
starting anywhere. An item that has not been added for long has faded and is new again.

Invariant: a cell of an item is at least 3 less the number of times it was lowered since the item's last add.

A cell has two bits, so setting it is one atomic or, and all cells of a word fade in one compare-and-swap.

Source: F. Deng, D. Rafiei, "Approximately Detecting Duplicates for Streaming Data using Stable Bloom Filters" (2006).
"""

import numpy as np

from latchfree.atomics import cas, fetch_add, fetch_or, high_product, load, peek, prefetch
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, TICKET, enter, leave, note_added
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_5 = np.uint64(5)
_31 = np.uint64(31)
_32 = np.uint64(32)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_LOW = np.uint64(0x5555555555555555)
_ALL = np.uint64((1 << 64) - 1)

#: What a cell holds that was just set.
TOP = np.uint64(3)

# The shape.
SLOTS = SHAPE  # cells, a multiple of 32
HASHES = SHAPE + np.uint64(1)  # cells of an item
FADING = SHAPE + np.uint64(2)  # cells that an add lowers

#: How far ahead of the items in hand their words are asked for: another processor may have written to them.
_AHEAD = 4


@kernel
def faded(word: Word, cells: Word) -> Word:
    """Return a word of cells, of which those marked by their lower bit are lowered by one; 0 stays 0."""
    return word - ((word | (word >> _1)) & _LOW & cells)


@kernel
def fade_word(mem: Handle, at: Word, cells: Word) -> None:
    """Lower some cells of a word."""
    while True:
        # spec: StableBloom!Read -- acquire: an old word makes the exchange fail.
        word = load(mem, at)
        new = faded(word, cells)
        # spec: StableBloom!Fade -- seq_cst: a store would undo what others have set meanwhile (mutant X4).
        if new == word or cas(mem, at, word, new):
            return


@kernel
def take_tickets(mem: Handle, record: Word, count: Word) -> Word:
    """Return the first of as many numbers as there are adds; nobody else has them."""
    # spec: none -- seq_cst (relaxed suffices): each add has a number of its own.
    return fetch_add(mem, record + TICKET, count)


@kernel
def start_of(ticket: Word, slots: Word) -> Word:
    """Return the first cell that the add of a number lowers."""
    return high_product(mix(ticket + _STEP), slots)


@kernel
def ask_for(mem: Handle, record: Word, h: Word, ticket: Word) -> None:
    """Ask for the words of an add, to be written soon."""
    slots = peek(mem, record + SLOTS)
    prefetch(mem, record + FIRST_CELL + (start_of(ticket, slots) >> _5))
    for _ in range(peek(mem, record + HASHES)):
        h += _STEP
        prefetch(mem, record + FIRST_CELL + (high_product(mix(h), slots) >> _5))


@kernel
def fade(mem: Handle, record: Word, ticket: Word) -> None:
    """Lower as many cells as the shape says, from where a number leads."""
    slots, left = peek(mem, record + SLOTS), peek(mem, record + FADING)
    start = start_of(ticket, slots)
    while left != _0:
        first = start & _31
        here = min(_32 - first, left)
        cells = (_ALL >> ((_32 - here) << _1)) << (first << _1)
        fade_word(mem, record + FIRST_CELL + (start >> _5), cells)
        left -= here
        start += here
        if start == slots:
            start = _0


@kernel
def contains(mem: Handle, record: Word, h: Word) -> Flag:
    """Return whether no cell of a hash has faded."""
    slots = peek(mem, record + SLOTS)
    for _ in range(peek(mem, record + HASHES)):
        h += _STEP
        cell = high_product(mix(h), slots)
        # spec: StableBloom!Look -- acquire: sees what every add that has returned before has set.
        if (load(mem, record + FIRST_CELL + (cell >> _5)) >> ((cell & _31) << _1)) & TOP == _0:
            return False
    return True


@kernel
def add(mem: Handle, record: Word, h: Word, ticket: Word) -> Flag:
    """Add a hash by a number of its own; return whether it was there."""
    seen = contains(mem, record, h)
    fade(mem, record, ticket)
    slots = peek(mem, record + SLOTS)
    for _ in range(peek(mem, record + HASHES)):
        h += _STEP
        cell = high_product(mix(h), slots)
        # spec: StableBloom!Set -- seq_cst: whoever begins after this add has returned finds the item, unless it fades.
        fetch_or(mem, record + FIRST_CELL + (cell >> _5), TOP << ((cell & _31) << _1))
    return seen


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; return whether it was seen, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    seen = add(mem, record, h, take_tickets(mem, record, _1))
    note_added(mem, record, _1)
    leave(mem, me)
    return _1 if seen else _0


@entry
def contains_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return whether an item may be there; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = contains(mem, record, h)
    leave(mem, me)
    return _1 if found else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, seen: Array) -> Word:
    """Add items by their hashes, and write 1 for each that was seen, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    count = len(hashes)
    # All at once: threads that take them one by one do little but pass this word to and fro.
    ticket = take_tickets(mem, record, np.uint64(count))
    for k in range(count):
        if k + _AHEAD < count:
            ask_for(mem, record, hashes[k + _AHEAD], ticket + np.uint64(k + _AHEAD))
        seen[k] = 1 if add(mem, record, hashes[k], ticket + np.uint64(k)) else 0
    note_added(mem, record, np.uint64(count))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Write 1 for each item that may be there, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        found[k] = 1 if contains(mem, record, hashes[k]) else 0
    leave(mem, me)
    return _1
