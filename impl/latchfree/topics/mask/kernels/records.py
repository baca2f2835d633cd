"""Records: a pattern with its subscribers in one run of bytes, so that a match touches one place.

    bytes 0-3   how many subscribers
    bytes 4-5   length of the pattern
    bytes 6-7   its group (wildcard mask), `IN_TRIE` for none
    then        the subscribers, 4 or 8 bytes each
    then        the pattern, padded to a multiple of 4

A record is named by its offset divided by 4, plus 1; 0 names none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.atomics import read_byte, read_int32, read_word
from latchfree.jit import kernel
from latchfree.kinds import Array, Word

IN_TRIE = 0xFFFF
HEAD = 8

_1, _4, _6, _7, _8 = map(np.uint64, (1, 4, 6, 7, 8))


@kernel
def subscribers_in(record: Word) -> Any:
    """Return how many subscribers the record at an address holds."""
    return np.int64(read_int32(record))


@kernel
def length_in(record: Word) -> Any:
    """Return the bytes of a record's pattern."""
    return read_byte(record + _4) | (read_byte(record + np.uint64(5)) << _8)


@kernel
def group_in(record: Word) -> Any:
    """Return the group of the pattern of a record."""
    return read_byte(record + _6) | (read_byte(record + _7) << _8)


@kernel
def subscriber_in(record: Word, index: Any, width: Any) -> Any:
    """Return the subscriber at `index` of a record."""
    at = record + _8 + np.uint64(index) * np.uint64(width)
    if width == 4:
        return np.int64(np.int32(read_int32(at)))
    return np.int64(read_word(at))


@kernel
def text_of(record: Word, width: Any) -> Word:
    """Return the address of the pattern of a record."""
    return record + _8 + np.uint64(read_int32(record)) * np.uint64(width)


@kernel
def write_records(
    address: Word, offsets: Array, groups: Array, row_at: Array, subscribers: Array, width: Any, at: Array, out: Array
) -> None:
    """Write the record of each pattern (bytes `offsets` at `address`) to `out` at `at`.

    `row_at` says which of `subscribers` belong to a pattern.
    """
    for i in range(len(groups)):
        count = row_at[i + 1] - row_at[i]
        length = offsets[i + 1] - offsets[i]
        p = at[i]
        for k in range(4):
            out[p + k] = np.uint8((count >> (8 * k)) & 255)
        for k in range(2):
            out[p + 4 + k] = np.uint8((length >> (8 * k)) & 255)
            out[p + 6 + k] = np.uint8((groups[i] >> (8 * k)) & 255)
        p += HEAD
        for s in range(row_at[i], row_at[i + 1]):
            for k in range(width):
                out[p] = np.uint8((subscribers[s] >> (8 * k)) & 255)
                p += 1
        for k in range(length):
            out[p] = np.uint8(read_byte(address + np.uint64(offsets[i] + k)))
            p += 1
