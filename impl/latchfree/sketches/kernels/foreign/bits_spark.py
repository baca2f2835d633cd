"""Which bits an item has in a `BloomFilter` of Apache Spark, of version 1 and of version 2.

Example: an item is hashed twice by 32 bits, to a and b. In version 1 its bits are the numbers a + b, a + 2 * b, ... of
32 bits; a negative one is turned over, and the remainder by the size says which bit. In version 2 the numbers are
a * (2**31 - 1) + b, ... of 64 bits, so that a large filter uses all of its bits.

What is given: the bits of the filter, the bits of an item, the seed, and 1 for version 2.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.sketches.kernels.foreign.murmur32 import hash_of_bytes, hash_of_word, signed

_0 = np.uint64(0)
_63 = np.uint64(63)
_MOST_INT = np.uint64((1 << 31) - 1)


@kernel
def _scatter(given: Array, one: Word, two: Word, out: Array, at: Word) -> None:
    """Write the bits of an item that is hashed to two numbers."""
    wide = given[3] != _0
    step = signed(two)
    h = signed(one) * _MOST_INT if wide else signed(one)
    for j in range(np.int64(given[1])):
        h = h + step if wide else signed(h + step)
        out[at + j] = (~h if h >> _63 != _0 else h) % given[0]


@kernel
def hash_ints(given: Array, items: Array, out: Array) -> None:
    """Write the bits of integers."""
    for k in range(len(items)):
        item = np.uint64(items[k])
        one = hash_of_word(item, given[2])
        _scatter(given, one, hash_of_word(item, one), out, k * np.int64(given[1]))


@kernel
def hash_blobs(given: Array, address: Word, ends: Array, out: Array) -> None:
    """Write the bits of the bytes from each of `ends` to the next."""
    for k in range(len(ends) - 1):
        start = np.uint64(ends[k])
        length = np.uint64(ends[k + 1]) - start
        one = hash_of_bytes(address + start, length, given[2])
        _scatter(given, one, hash_of_bytes(address + start, length, one), out, k * np.int64(given[1]))
