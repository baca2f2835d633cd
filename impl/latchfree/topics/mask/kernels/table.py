"""The table of a mask index: records by the hash of their literal words and their group.

Each entry is one word: the low half of a key, and the name of a record; collisions go to the next free place. A filter
of `FILTER` bits for each record stands before the table: most probes find their bit unset and end without reading the
table.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.topics.mask.kernels.shapes import MOST_WORDS
from latchfree.topics.mask.kernels.texts import at_position, parse

FILTER = 32
"""Bits of filter for each record."""
SLACK = 1.4
"""Places in the table for each record."""

_0, _1, _6, _32, _63 = map(np.uint64, (0, 1, 6, 32, 63))
_LOW = np.uint64(0xFFFFFFFF)
GROUP_STEP = np.uint64(0xC2B2AE3D27D4EB4F)


@kernel
def salt_of(group: Word) -> Word:
    """Return the word that tells equal literal words of different groups apart."""
    return (np.uint64(group) + _1) * GROUP_STEP


@kernel
def key_of(literals: Word, salt: Word) -> Word:
    """Return the key of a pattern: the exclusive or of the hashes of its literal words and the salt of its group."""
    return literals ^ salt


@kernel
def place_of(key: Word, capacity: Word) -> Word:
    """Return where in a table of fewer than 2**32 places a key is looked for first: its high half, scaled."""
    return ((key >> _32) * capacity) >> _32


@kernel
def bit_of(key: Word, bits: Word) -> Word:
    """Return the bit of a filter of fewer than 2**32 bits that stands for a key: its low half, scaled."""
    return ((key & _LOW) * bits) >> _32


@kernel
def is_set(filter_: Word, bit: Word) -> Word:
    """Return a bit of a filter, 0 or 1."""
    return (peek(filter_, bit >> _6) >> (bit & _63)) & _1


@kernel
def fill_table(
    address: Word, offsets: Array, groups: Array, masks: Array, depths: Array, names: Array, classes: Word,
    separators: Word, entries: Array, filter_: Array,
) -> None:  # fmt: skip
    """Enter the patterns that have a group; `masks` and `depths` are those of groups, `names` of records."""
    scratch = np.empty((3, MOST_WORDS), np.uint64)
    hashes = scratch[0]
    capacity = np.uint64(len(entries))
    bits = np.uint64(len(filter_) * 64)
    limit = address + np.uint64(offsets[-1])
    for i in range(len(groups)):
        group = groups[i]
        if group >= len(masks):
            continue
        parse(
            address + np.uint64(offsets[i]), np.uint64(offsets[i + 1] - offsets[i]), limit, classes, separators,
            np.uint64(MOST_WORDS), hashes.ctypes.data, scratch[1].ctypes.data, scratch[2].ctypes.data,
        )  # fmt: skip
        literals = _0
        for j in range(depths[group]):
            if (masks[group] >> np.uint64(j)) & _1 == _0:
                literals ^= at_position(hashes[j], np.uint64(j))
        key = key_of(literals, salt_of(group))
        place = place_of(key, capacity)
        while entries[place] != _0:
            place += _1
            if place == capacity:
                place = _0
        entries[place] = (key << _32) | np.uint64(names[i])
        bit = bit_of(key, bits)
        filter_[bit >> _6] |= _1 << (bit & _63)
