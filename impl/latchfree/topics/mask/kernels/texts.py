"""Words of a UTF-8 text: where they are, their hashes, and whether a byte needs a closer look.

A table of 256 classes says which bytes separate words and which are suspicious, that is, may break a rule of the
dialect. Compiled code only suspects; `Dialect` judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.atomics import poke, read_byte, read_word, trailing_zeros
from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree.words import low_bytes, tail_word, zero_bytes

SEPARATOR = np.uint64(1)
SUSPICIOUS = np.uint64(2)
EMPTY_WORD = 256
"""Where the table tells whether an empty word is suspicious."""
FLOOR = 257
"""Where the table tells the byte that no suspicious one reaches."""

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_8 = np.uint64(8)
_32 = np.uint64(32)
_64 = np.uint64(64)
_ALL = ~_0
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xD6E8FEB86659FD93)
_LAST = np.uint64(0x80)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)


@kernel
def fold(word: Word) -> Word:
    """Spread a word's high bits over its low ones and back."""
    word = (word ^ (word >> _32)) * MIX
    return word ^ (word >> _32)


@kernel
def at_position(h: Word, position: Word) -> Word:
    """The hash of a word at a position: the same word elsewhere gets another."""
    return h * (GOLDEN + _2 * position)


@kernel
def load(address: Word, size: Word, limit: Word) -> Word:
    """The first `size` bytes (1 to 8) at a raw address as a word, zero-padded; nothing is read from `limit` on."""
    if address + _8 <= limit:
        return read_word(address) & (_ALL >> (_64 - _8 * size))
    return tail_word(address, size)


@kernel
def hash_long(address: Word, size: Word, limit: Word) -> Word:
    """All but the last up to 8 bytes of a word of a text, which has more, mixed; and those last, as they are."""
    h = _0
    left = size
    while left > _8:
        h = (h ^ read_word(address)) * GOLDEN
        address += _8
        left -= _8
    return h ^ load(address, left, limit)


@kernel
def count_suspects(address: Word, length: Word, classes: Word) -> Any:
    """How many bytes are suspicious."""
    found = np.int64(0)
    for i in range(length):
        if read_byte(classes + read_byte(address + i)) == SUSPICIOUS:
            found += 1
    return found


@kernel
def parse(
    address: Word, length: Word, limit: Word, classes: Word, separators: Word, most: Word, hashes: Word, starts: Word,
    ends: Word,
) -> tuple[Any, Any]:  # fmt: skip
    """Find the words of a text; those from number `most` on are only counted.

    Eight bytes are looked at together: a byte is a separator where its difference from one is zero, which carries
    between bytes do not blur; one below the floor of suspicion makes every byte of the text be looked up.
    All arrays are addresses. `separators` is eight of them; nothing is read from `limit` on.

    Returns
    -------
    words : int
        None for an empty text.
    suspects : int
        How many bytes and empty words are suspicious.
    """
    if length == _0:
        return np.int64(0), np.int64(0)
    floor = read_byte(classes + np.uint64(FLOOR)) * _ONES
    low = _0
    empty = _0
    words = _0
    start = _0
    i = _0
    while i <= length:
        left = length - i
        if left >= _8:
            chunk = read_word(address + i)
            closing = _0
        else:
            chunk = load(address + i, left, limit) if left > _0 else _0
            chunk |= _HIGHS << (_8 * left)
            closing = _LAST << (_8 * left)
        low |= low_bytes(chunk, floor)
        found = zero_bytes(chunk ^ separators) | closing
        while found != _0:
            end = i + (trailing_zeros(found) >> _3)
            found &= found - _1
            size = end - start
            if size == _0:
                empty += _1
            if words < most:
                if size == _0:
                    h = _0
                elif size <= _8:
                    h = load(address + start, size, limit)
                else:
                    h = hash_long(address + start, size, limit)
                poke(hashes, words, fold(h * GOLDEN + size))
                poke(starts, words, start)
                poke(ends, words, end)
            words += _1
            start = end + _1
        i += _8
    suspects = np.int64(0)
    if empty != _0 and read_byte(classes + np.uint64(EMPTY_WORD)) == SUSPICIOUS:
        suspects += np.int64(empty)
    if low != _0 and floor != _0:
        suspects += count_suspects(address, length, classes)
    return np.int64(words), suspects


@kernel
def same_bytes(one: Word, other: Word, length: Any) -> Flag:
    """Whether two runs of bytes at raw addresses are equal; reads neither past its end."""
    count = np.uint64(length)
    at = _0
    if count >= _8:
        last = count - _8  # the last word read may overlap the one before
        while at < last:
            if read_word(one + at) != read_word(other + at):
                return False
            at += _8
        return read_word(one + last) == read_word(other + last)
    while at < count and read_byte(one + at) == read_byte(other + at):
        at += _1
    return at == count
