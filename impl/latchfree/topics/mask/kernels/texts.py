"""Split a UTF-8 text into words: their places, their hashes, and the bytes that may break a rule.

A table of 256 classes marks the bytes that separate words and the *suspicious* bytes, which may break a rule of the
dialect: NUL in MQTT, say. Compiled code only counts suspicious bytes; `Dialect` then judges the text.
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
"""Place in the table of the class of empty words."""
FLOOR = 257
"""Place in the table of a byte above all suspicious ones."""

_0, _1, _2, _3, _8, _32, _64 = map(np.uint64, (0, 1, 2, 3, 8, 32, 64))
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
    """Return the hash of a word at a position: the same word elsewhere gets another."""
    return h * (GOLDEN + _2 * position)


@kernel
def load(address: Word, size: Word, limit: Word) -> Word:
    """Read `size` bytes (1 to 8) at a raw address as a word, zero-padded; read nothing from `limit` on."""
    if address + _8 <= limit:
        return read_word(address) & (_ALL >> (_64 - _8 * size))
    return tail_word(address, size)


@kernel
def hash_long(address: Word, size: Word, limit: Word) -> Word:
    """Return a hash of a word of over 8 bytes: all bytes but the last (up to) 8 mixed, and the last 8 unmixed."""
    h = _0
    left = size
    while left > _8:
        h = (h ^ read_word(address)) * GOLDEN
        address += _8
        left -= _8
    return h ^ load(address, left, limit)


@kernel
def count_suspects(address: Word, length: Word, classes: Word) -> Any:
    """Return how many bytes are suspicious."""
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
    """Find the words of a text; count, but do not write, the words from number `most` on.

    Eight bytes are looked at together. The exclusive or with eight separators is zero exactly in the bytes that are
    separators. If any byte is below the floor of suspicion, every byte of the text is looked up in the table.
    All arrays are addresses. `separators` is a word of eight separators; nothing is read from `limit` on.

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
    """Return whether two runs of bytes at raw addresses are equal; read neither past its end."""
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
