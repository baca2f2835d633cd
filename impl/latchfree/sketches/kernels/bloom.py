"""A Bloom filter in blocks: all bits of an item are in one block, a few words beside each other in one cache line.

Example: with blocks of 4 words and 2 bits a word, the item of hash h has 8 bits: the upper bits of h choose the block,
and 48 bits of a second hash choose two of the 64 bits of each word.

Invariant: a bit that is set stays set. So who finds all bits of an item will always find them.

Adding is not one step: somebody may see some bits of an item and not yet the others. He says "not there", as he would
have said a moment before. Once an add has returned, everybody finds the item.
"""

import numpy as np

from latchfree.atomics import fetch_or, high_product, load, peek, prefetch
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, enter, leave, note_added
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_6 = np.uint64(6)
_63 = np.uint64(63)
_64 = np.uint64(64)
_STEP = np.uint64(0x9E3779B97F4A7C15)

# The shape.
BLOCKS = SHAPE
WORDS = SHAPE + np.uint64(1)  # of a block
BITS = SHAPE + np.uint64(2)  # an item sets in each of them

#: How far ahead of the items in hand their blocks are asked for.
_AHEAD = 8


@kernel
def block_of(mem: Handle, record: Word, h: Word) -> Word:
    """Return the offset of the block that a hash falls in."""
    return record + FIRST_CELL + high_product(h, peek(mem, record + BLOCKS)) * peek(mem, record + WORDS)


@kernel
def set_word(mem: Handle, at: Word, mask: Word) -> None:
    """Set bits of a word."""
    # spec: none -- acquire: bits never go, so those that are there need not be set again.
    if load(mem, at) & mask != mask:
        # spec: none -- seq_cst: whoever begins after this add has returned finds the bits. A load and a store instead
        # would lose bits that others set in between.
        fetch_or(mem, at, mask)


@kernel
def mask_of(g: Word, bits: Word) -> Word:
    """Return as many bits of a word as 6-bit pieces of `g` say; some of them may be the same."""
    mask = _0
    for _ in range(bits):
        mask |= _1 << (g & _63)
        g >>= _6
    return mask


@kernel
def add_at(mem: Handle, cells: Word, blocks: Word, words: Word, bits: Word, h: Word) -> None:
    """Set the bits of a hash in the blocks that begin at an offset."""
    at = cells + high_product(h, blocks) * words
    used = bits * _6
    state = h + _STEP
    g, left = mix(state), _64
    for k in range(words):
        if left < used:
            state += _STEP
            g, left = mix(state), _64
        set_word(mem, at + np.uint64(k), mask_of(g, bits))
        g >>= used
        left -= used


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Set the bits of a hash."""
    blocks, words, bits = peek(mem, record + BLOCKS), peek(mem, record + WORDS), peek(mem, record + BITS)
    add_at(mem, record + FIRST_CELL, blocks, words, bits, h)


@kernel
def contains_at(mem: Handle, cells: Word, blocks: Word, words: Word, bits: Word, h: Word) -> Flag:
    """Return whether all bits of a hash are set in the blocks that begin at an offset."""
    at = cells + high_product(h, blocks) * words
    used = bits * _6
    state = h + _STEP
    g, left = mix(state), _64
    for k in range(words):
        if left < used:
            state += _STEP
            g, left = mix(state), _64
        mask = mask_of(g, bits)
        # spec: none -- acquire: sees the bits of every add that has returned before.
        if load(mem, at + np.uint64(k)) & mask != mask:
            return False
        g >>= used
        left -= used
    return True


@kernel
def contains(mem: Handle, record: Word, h: Word) -> Flag:
    """Return whether all bits of a hash are set."""
    blocks, words, bits = peek(mem, record + BLOCKS), peek(mem, record + WORDS), peek(mem, record + BITS)
    return contains_at(mem, record + FIRST_CELL, blocks, words, bits, h)


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
            prefetch(mem, block_of(mem, record, hashes[k + _AHEAD]))
        add(mem, record, hashes[k])
    note_added(mem, record, np.uint64(count))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Write 1 for each item that may be there, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    count = len(hashes)
    for k in range(count):
        if k + _AHEAD < count:
            prefetch(mem, block_of(mem, record, hashes[k + _AHEAD]))
        found[k] = 1 if contains(mem, record, hashes[k]) else 0
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Set all bits that are set in the cells of another filter of the same shape; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(theirs)):
        if theirs[k] != _0:
            set_word(mem, record + FIRST_CELL + np.uint64(k), theirs[k])
    note_added(mem, record, count)
    leave(mem, me)
    return _1
