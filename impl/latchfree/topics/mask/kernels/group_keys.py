"""The keys under which the groups would hold a topic."""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.atomics import peek, poke, prefetch_read, trailing_zeros
from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree.topics.mask.kernels.shapes import MOST_WORDS
from latchfree.topics.mask.kernels.table import bit_of, is_set, key_of

NOWHERE = MOST_WORDS
"""The position of a hash that is 0, for groups with fewer than two wildcards."""

MASK, DEPTH, FIRST, SECOND, OTHERS, SALT = (np.uint64(k) for k in range(6))
"""Words of a group in the table of groups: its mask and number of words, the positions of its first two wildcards, the
mask of the other wildcards, and the salt of its number."""
SIZE = np.uint64(6)

_0, _1, _6, _63 = map(np.uint64, (0, 1, 6, 63))
_NEAR = np.uint64(1 << 21)


@kernel
def number_of(row: Word, group: Word) -> Word:
    """Return a row of the block and a group in one word."""
    return (row << _6) | group


@kernel
def row_of(number: Word) -> Word:
    """Return the row in a number."""
    return number >> _6


@kernel
def group_of(number: Word) -> Word:
    """Return the group in a number."""
    return number & _63


@kernel
def hash_groups(
    table: Word, first: Word, stop: Word, shut: Flag, hashes: Word, prefix: Word, filter_: Word, bits: Word, row: Word,
    keys: Word, numbers: Word, count: Word,
) -> Any:  # fmt: skip
    """Append the keys under which groups `first` to `stop` would hold a topic, and fetch their bits of the filter.

    Example: for the group of ``+/b/+`` the hash of the literal words of ``x/b/y`` is the exclusive or of all three
    words' hashes, without the hashes of words 0 and 2.

    A filter that is small enough to be in the cache is read at once; then the next key overwrites most keys. All arrays
    are addresses. `hashes` has the hash of each word at its position; `prefix` has the exclusive or of the first 0, 1,
    ... of the hashes.
    """
    near = bits <= _NEAR
    for group in range(first, stop):
        entry = group * SIZE
        depth = peek(table, entry + DEPTH)
        if shut and (depth == _0 or peek(table, entry + MASK) & _1 != _0):
            continue
        literals = peek(prefix, depth) ^ peek(hashes, peek(table, entry + FIRST))
        literals ^= peek(hashes, peek(table, entry + SECOND))
        more = peek(table, entry + OTHERS)
        while more != _0:
            literals ^= peek(hashes, trailing_zeros(more))
            more &= more - _1
        key = key_of(literals, peek(table, entry + SALT))
        poke(keys, count, key)
        poke(numbers, count, number_of(row, group))
        bit = bit_of(key, bits)
        if near:
            count += is_set(filter_, bit)
        else:
            prefetch_read(filter_, bit >> _6)
            count += _1
    return count
