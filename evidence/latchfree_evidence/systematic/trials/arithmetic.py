"""Arithmetic on words beside plain Python: hashes, bytes of words, bits, and sorting."""

from __future__ import annotations

import ctypes
import random

import numpy as np

from latchfree import sorting, words
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.words import WORD
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_SOME = (
    0,
    1,
    2,
    3,
    5,
    63,
    64,
    255,
    256,
    1 << 31,
    1 << 32,
    1 << 62,
    1 << 63,
    WORD,
    WORD - 1,
    0x80,
    0x7F7F,
    0x8080 << 40,
)


def _mixed(word: int) -> int:
    word = (word ^ word >> 32) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 29) * 0x94D049BB133111EB & WORD
    return word ^ word >> 32


def _folded(low: int, high: int) -> int:
    return (low * high & WORD) ^ (low * high >> 64)


def _hashed(data: bytes) -> int:
    """Return the hash of bytes as `latchfree.words.hash_bytes` documents it."""
    length, h = len(data), 0x9E3779B97F4A7C15 ^ len(data)

    def word(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "little")

    if length > 16:
        for at in range(0, length - 16, 16):
            h = _folded(word(at, 8) ^ 0xBF58476D1CE4E5B9, word(at + 8, 8) ^ h)
        h ^= _folded(word(length - 16, 8) ^ 0x94D049BB133111EB, word(length - 8, 8) ^ 0x9E3779B97F4A7C15)
        return h ^ h >> 32
    if length >= 8:
        a, b = word(0, 8), word(length - 8, 8)
    elif length >= 4:
        a, b = word(0, 4), word(length - 4, 4)
    else:
        a, b = word(0, length), 0
    a, b = a ^ 0xBF58476D1CE4E5B9, b ^ h
    return _folded((a * b & WORD) ^ length ^ 0x94D049BB133111EB, (a * b >> 64) ^ 0x9E3779B97F4A7C15)


def hashes(world: World, seed: int) -> None:
    """Mix words, and hash bytes of all lengths; nothing behind the bytes counts."""
    rng = random.Random(seed)
    for word in (*_SOME, *(rng.getrandbits(64) for _ in range(20))):
        require(world[words.mix](word) == _mixed(word), "a word is mixed", word)
    for length in (*range(50), 64, 65, 100):
        data = bytes(rng.randrange(1, 256) for _ in range(length))
        for behind in (b"\0" * 16, b"\xff" * 16):
            kept = ctypes.create_string_buffer(behind + data + behind)
            at = ctypes.addressof(kept) + 16
            require(world[words.hash_bytes](at, length) == _hashed(data), "bytes are hashed", length)
            if length % 8:
                rest = int.from_bytes(data[length // 8 * 8 :], "little")
                require(world[words.last_word](at, length) == rest, "the last bytes", length)
            if length < 8:
                require(world[words.tail_word](at, length) == int.from_bytes(data, "little"), "the tail", length)


def bits(world: World, seed: int) -> None:
    """Count and place bits, and find bytes in words."""
    rng = random.Random(seed)
    some = (*_SOME, *(rng.getrandbits(rng.choice((8, 33, 64))) for _ in range(60)))
    for word in some:
        data = word.to_bytes(8, "little")
        zero = sum(0x80 << 8 * k for k in range(8) if not data[k])
        require(world[words.zero_bytes](word) == zero, "bytes that are zero", word)
        require(world[words.bits_below](word) == word.bit_length(), "bits below the highest", word)
        for floor in (0, 1, 32, 127):
            found = world[words.low_bytes](word, floor * 0x0101010101010101)
            require((found != 0) == (min(data) < floor), "a byte below the floor", word, floor)
        for level in range(0, 61, 6):
            flag = world[words.flag_of](word, level)
            require(flag == 1 << (word >> level & 63), "the bit of a slice", word, level)
            require(world[words.position](word, flag) == (word & flag - 1).bit_count(), "the slot of a flag", word)


def sorts(world: World, seed: int) -> None:
    """Sort parts of lists of all lengths; the others stay where they are."""
    rng = random.Random(seed)
    for length in (*range(12), 31, 32, 33, 60):
        for _ in range(4):
            start, end = rng.randrange(3), rng.randrange(3)
            array = np.array([rng.randrange(-9, 9) for _ in range(start + length + end)], np.int64)
            before = array.tolist()
            world[sorting.sort](View(array), start, start + length)
            wanted = before[:start] + sorted(before[start : start + length]) + before[start + length :]
            require(array.tolist() == wanted, "a part is sorted", before, array.tolist())
