"""MurmurHash3 of 32 bits as the sketches of Apache Spark compute it: a word of which the lower half is the hash.

Example: of the 5 bytes of ``"teas!"``, the first four are mixed as one number, and the fifth as a number of its own,
with its sign. MurmurHash3 as published mixes the last bytes together, and otherwise; Spark keeps its own way, since its
stored sketches have it. An integer is hashed as its lower and its upper half.
"""

import numpy as np

from latchfree.atomics import read_byte, read_int32
from latchfree.jit import kernel
from latchfree.kinds import Word

_1 = np.uint64(1)
_3 = np.uint64(3)
_4 = np.uint64(4)
_5 = np.uint64(5)
_8 = np.uint64(8)
_13 = np.uint64(13)
_15 = np.uint64(15)
_16 = np.uint64(16)
_17 = np.uint64(17)
_19 = np.uint64(19)
_32 = np.uint64(32)
_SIGN = np.uint64(0x80)
_BELOW = np.uint64(0xFFFFFF00)
LOW = np.uint64(0xFFFFFFFF)
_C1 = np.uint64(0xCC9E2D51)
_C2 = np.uint64(0x1B873593)
_ADD = np.uint64(0xE6546B64)
_FINAL_1 = np.uint64(0x85EBCA6B)
_FINAL_2 = np.uint64(0xC2B2AE35)


@kernel
def _mixed(h: Word, part: Word) -> Word:
    """Return a hash with 32 bits more."""
    part = (part * _C1) & LOW
    part = (((part << _15) | (part >> _17)) & LOW) * _C2
    h ^= part & LOW
    h = ((h << _13) | (h >> _19)) & LOW
    return (h * _5 + _ADD) & LOW


@kernel
def _final(h: Word, length: Word) -> Word:
    h ^= length & LOW
    h = ((h ^ (h >> _16)) * _FINAL_1) & LOW
    h = ((h ^ (h >> _13)) * _FINAL_2) & LOW
    return h ^ (h >> _16)


@kernel
def hash_of_word(word: Word, seed: Word) -> Word:
    """Return the hash of an integer."""
    return _final(_mixed(_mixed(seed & LOW, word & LOW), word >> _32), _8)


@kernel
def hash_of_bytes(address: Word, length: Word, seed: Word) -> Word:
    """Return the hash of `length` bytes at a raw address."""
    h, end = seed & LOW, address + length
    whole = end - (length & _3)
    while address < whole:
        h = _mixed(h, read_int32(address) & LOW)
        address += _4
    while address < end:
        byte = read_byte(address)
        h = _mixed(h, byte | _BELOW if byte & _SIGN else byte)
        address += _1
    return _final(h, length)


@kernel
def signed(half: Word) -> Word:
    """Return 32 bits as a number with their sign, in a word."""
    return np.uint64(np.int64(half << _32) >> np.int64(32))
