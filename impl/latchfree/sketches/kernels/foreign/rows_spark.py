"""Where the counters of an item are in a `CountMinSketch` of Apache Spark.

Example: each row has a factor of its own. An integer times the factor, folded to 31 bits, gives the place in the row by
its remainder. A string is hashed twice by 32 bits, to a and b; row j takes the remainder of a + j * b without its sign.

What is given: the counters of a row, then the factor of each row.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.sketches.kernels.foreign.murmur32 import LOW, hash_of_bytes, signed

_0 = np.uint64(0)
_31 = np.uint64(31)
_32 = np.int64(32)
_MOST_INT = np.uint64((1 << 31) - 1)


@kernel
def hash_ints(given: Array, items: Array, out: Array) -> None:
    """Write the places of integers."""
    depth = len(given) - 1
    for k in range(len(items)):
        for j in range(depth):
            h = given[1 + j] * np.uint64(items[k])
            h += np.uint64(np.int64(h) >> _32)
            out[k * depth + j] = (h & _MOST_INT) % given[0] + np.uint64(j) * given[0]


@kernel
def hash_blobs(given: Array, address: Word, ends: Array, out: Array) -> None:
    """Write the places of the bytes from each of `ends` to the next."""
    depth = len(given) - 1
    for k in range(len(ends) - 1):
        start = np.uint64(ends[k])
        length = np.uint64(ends[k + 1]) - start
        one = hash_of_bytes(address + start, length, _0)
        two = hash_of_bytes(address + start, length, one)
        for j in range(depth):
            h = (one + np.uint64(j) * two) & LOW
            size = _0 - signed(h) if h >> _31 != _0 else h
            out[k * depth + j] = size % given[0] + np.uint64(j) * given[0]
