"""Where the counters of an item are in a `count_min_sketch` of Apache DataSketches: a hash of its own for each row.

Example: in a sketch of 3 rows of 10 counters, "tea" is hashed three times, with three seeds. The remainders of the
hashes by 10 are 4, 7 and 1: the places are 4, 17 and 21.

What is given: the counters of a row, then the seed of each row.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.sketches.kernels.foreign.counters import NOWHERE
from latchfree.sketches.kernels.foreign.murmur128 import hash_of_bytes, hash_of_word

_0 = np.uint64(0)


@kernel
def hash_ints(given: Array, items: Array, out: Array) -> None:
    """Write the places of integers."""
    depth = len(given) - 1
    for k in range(len(items)):
        for j in range(depth):
            one, _ = hash_of_word(np.uint64(items[k]), given[1 + j])
            out[k * depth + j] = one % given[0] + np.uint64(j) * given[0]


@kernel
def hash_blobs(given: Array, address: Word, ends: Array, out: Array) -> None:
    """Write the places of the bytes from each of `ends` to the next; an empty string has none."""
    depth = len(given) - 1
    for k in range(len(ends) - 1):
        start = np.uint64(ends[k])
        length = np.uint64(ends[k + 1]) - start
        for j in range(depth):
            one, _ = hash_of_bytes(address + start, length, given[1 + j])
            out[k * depth + j] = one % given[0] + np.uint64(j) * given[0] if length != _0 else NOWHERE
