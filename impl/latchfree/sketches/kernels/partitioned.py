"""A partitioned Bloom filter: an array of bits for each hash function, so that an item sets one bit in each.

Example: 7 slices of 1,400,000 bits. The item of hash h has a bit in each slice, chosen by a hash that is made of h and
the number of the slice.

Invariant: a bit that is set stays set. So who finds all bits of an item will always find them.

Source: K. Christensen, A. Roginsky, M. Jimeno (2010), after P. Almeida and others, "Scalable Bloom Filters" (2007).
"""

import numpy as np

from latchfree.atomics import high_product, load, peek, prefetch
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.bloom import set_word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, enter, leave, note_added
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_6 = np.uint64(6)
_63 = np.uint64(63)
_STEP = np.uint64(0x9E3779B97F4A7C15)

# The shape.
WORDS = SHAPE  # of a slice
SLICES = SHAPE + np.uint64(1)

#: How far ahead of the items in hand their words are asked for: another processor may have written to them.
_AHEAD = 8


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Set the bit of a hash in each slice."""
    words = peek(mem, record + WORDS)
    at = record + FIRST_CELL
    for _ in range(peek(mem, record + SLICES)):
        h += _STEP
        bit = high_product(mix(h), words << _6)
        set_word(mem, at + (bit >> _6), _1 << (bit & _63))
        at += words


@kernel
def ask_for(mem: Handle, record: Word, h: Word) -> None:
    """Ask for the words of a hash, to be written soon."""
    words = peek(mem, record + WORDS)
    at = record + FIRST_CELL
    for _ in range(peek(mem, record + SLICES)):
        h += _STEP
        prefetch(mem, at + (high_product(mix(h), words << _6) >> _6))
        at += words


@kernel
def contains(mem: Handle, record: Word, h: Word) -> Flag:
    """Return whether the bits of a hash are set."""
    words = peek(mem, record + WORDS)
    at = record + FIRST_CELL
    for _ in range(peek(mem, record + SLICES)):
        h += _STEP
        bit = high_product(mix(h), words << _6)
        # spec: none -- acquire: sees the bits of every add that has returned before.
        if load(mem, at + (bit >> _6)) >> (bit & _63) & _1 == _0:
            return False
        at += words
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
def contains_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return whether an item may be there; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = contains(mem, record, h)
    leave(mem, me)
    return _1 if found else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    count = len(hashes)
    for k in range(count):
        if k + _AHEAD < count:
            ask_for(mem, record, hashes[k + _AHEAD])
        add(mem, record, hashes[k])
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
