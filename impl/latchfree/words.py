"""Pure arithmetic on 64-bit words: hashing, and where a hash falls in a 64-way node."""

import numpy as np

from latchfree.atomics import high_product, in_line, popcount, read_byte, read_int32, read_word
from latchfree.jit import kernel
from latchfree.kinds import Word

_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_4 = np.uint64(4)
_7 = np.uint64(7)
_8 = np.uint64(8)
_16 = np.uint64(16)
_32 = np.uint64(32)
_64 = np.uint64(64)
_SLOT_MASK = np.uint64(63)
_S29 = np.uint64(29)
_S31 = np.uint64(31)
_S32 = np.uint64(32)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_HIGHS = np.uint64(0x8080808080808080)
_LOWS = np.uint64(0x7F7F7F7F7F7F7F7F)


@kernel
def mix(word: Word) -> Word:
    """Mix a word: a bijection, of which every output bit depends on every input bit (splitmix64's finalizer shape)."""
    word = (word ^ (word >> _S32)) * MIX_1
    word = (word ^ (word >> _S29)) * MIX_2
    return word ^ (word >> _S32)


@kernel
def _folded(a: Word, b: Word) -> Word:
    """Return the exclusive or of the two halves of a product."""
    in_line()
    return (a * b) ^ high_product(a, b)


@kernel
def hash_bytes(address: Word, length: Word) -> Word:
    """Return a 64-bit hash of `length` bytes at a raw address; it is the same in every process.

    Each step multiplies two words of the bytes, mixed with constants and with the hash so far, and folds the product.
    The last 16 bytes, which may overlap those before, have a product of their own: it waits for no other. Of at most 16
    bytes there is one product, and its halves make another.

    The lower bits are the better ones, and place a key in a trie. Who needs all of them, as sketches do, mixes once
    more.
    """
    in_line()
    h = _SEED ^ length
    if length > _16:
        last = address + length - _16
        if length > _32:
            before = last - _16
            while address < before:
                h = _folded(read_word(address) ^ MIX_1, read_word(address + _8) ^ h)
                address += _16
        h = _folded(read_word(address) ^ MIX_1, read_word(address + _8) ^ h)
        h ^= _folded(read_word(last) ^ MIX_2, read_word(last + _8) ^ _SEED)
        return h ^ (h >> _32)
    a = b = np.uint64(0)
    if length >= _8:
        a, b = read_word(address), read_word(address + length - _8)
    elif length >= _4:
        a, b = read_int32(address), read_int32(address + length - _4)
    elif length != np.uint64(0):
        a = last_word(address, length)
    a ^= MIX_1
    b ^= h
    return _folded((a * b) ^ length ^ MIX_2, high_product(a, b) ^ _SEED)


@kernel
def last_word(address: Word, length: Word) -> Word:
    """Read the bytes behind the last whole word of `length` bytes as a word padded with zeros; there is at least one.

    Nothing outside the bytes is read: where there are enough, a word or half a word that ends with them.
    """
    if length >= _8:
        return read_word(address + length - _8) >> (_64 - ((length & _7) << _3))
    if length >= _4:
        return read_int32(address) | read_int32(address + length - _4) << ((length - _4) << _3)
    middle, end = length >> _1, length - _1
    return read_byte(address) | read_byte(address + middle) << (middle << _3) | read_byte(address + end) << (end << _3)


@kernel
def tail_word(address: Word, count: Word) -> Word:
    """Read the last `count` < 8 bytes at a raw address as one word, padded with zeros, and nothing past them."""
    word = np.uint64(0)
    for k in range(count):
        word |= read_byte(address + np.uint64(k)) << (_8 * np.uint64(k))
    return word


@kernel
def zero_bytes(word: Word) -> Word:
    """Return the top bit of each byte of a word that is zero; no carry between bytes blurs the result."""
    return ~(((word & _LOWS) + _LOWS) | word | _LOWS)


@kernel
def low_bytes(word: Word, floors: Word) -> Word:
    """Return not zero exactly if a byte of a word is below that of `floors`, which are all the same and below 128."""
    return (word - floors) & ~word & _HIGHS


@kernel
def bits_below(word: Word) -> Word:
    """Count the bits up to the highest one bit of a word, 0 to 64."""
    word |= word >> _1
    word |= word >> _2
    word |= word >> _4
    word |= word >> _8
    word |= word >> _16
    return popcount(word | (word >> _S32))


@kernel
def flag_of(h: Word, level: Word) -> Word:
    """Return the bit of hash `h` in the bitmap of a node whose slice of the hash starts at bit `level`, 0 to 60."""
    return _1 << ((h >> level) & _SLOT_MASK)


@kernel
def position(bitmap: Word, flag: Word) -> Word:
    """Return the index of a flag's slot: the number of slots of the bitmap before the flag."""
    return popcount(bitmap & (flag - _1))
