"""MurmurHash3 of 128 bits for 64-bit machines: the hash of Apache DataSketches.

Example: the empty string has the hash (0, 0) with the seed 0. An integer is hashed as its 8 bytes, the lowest first.

Source: A. Appleby, MurmurHash3, in the public domain.
"""

import numpy as np

from latchfree.atomics import read_word
from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree.words import tail_word

_0 = np.uint64(0)
_5 = np.uint64(5)
_8 = np.uint64(8)
_15 = np.uint64(15)
_16 = np.uint64(16)
_33 = np.uint64(33)
_64 = np.uint64(64)
_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_ADD_1 = np.uint64(0x52DCE729)
_ADD_2 = np.uint64(0x38495AB5)
_FINAL_1 = np.uint64(0xFF51AFD7ED558CCD)
_FINAL_2 = np.uint64(0xC4CEB9FE1A85EC53)
_R27 = np.uint64(27)
_R31 = np.uint64(31)


@kernel
def _turned(word: Word, bits: Word) -> Word:
    return (word << bits) | (word >> (_64 - bits))


@kernel
def _first(word: Word) -> Word:
    return _turned(word * _C1, _R31) * _C2


@kernel
def _second(word: Word) -> Word:
    return _turned(word * _C2, _33) * _C1


@kernel
def _final(word: Word) -> Word:
    word = (word ^ (word >> _33)) * _FINAL_1
    word = (word ^ (word >> _33)) * _FINAL_2
    return word ^ (word >> _33)


@kernel
def _finished(one: Word, two: Word, length: Word) -> tuple[Word, Word]:
    one ^= length
    two ^= length
    one += two
    two += one
    one, two = _final(one), _final(two)
    one += two
    return one, two + one


@kernel
def hash_of_word(word: Word, seed: Word) -> tuple[Word, Word]:
    """Return the hash of the 8 bytes of a word."""
    return _finished(seed ^ _first(word), seed, _8)


@kernel
def hash_of_bytes(address: Word, length: Word, seed: Word) -> tuple[Word, Word]:
    """Return the hash of `length` bytes at a raw address."""
    one = two = seed
    left = length & _15
    end = address + length - left
    while address < end:
        one = _turned(one ^ _first(read_word(address)), _R27) + two
        one = one * _5 + _ADD_1
        two = _turned(two ^ _second(read_word(address + _8)), _R31) + one
        two = two * _5 + _ADD_2
        address += _16
    if left > _8:
        two ^= _second(tail_word(address + _8, left - _8))
    if left >= _8:
        one ^= _first(read_word(address))
    elif left != _0:
        one ^= _first(tail_word(address, left))
    return _finished(one, two, length)
