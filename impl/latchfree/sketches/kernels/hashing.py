"""Hashes of items: 64 bits, the same in every process, for ever (`HASH_VERSION`).

Example: the string ``"tea"`` has the hash of its UTF-8 bytes, and so has ``b"tea"``. The integer 4 has another one than
``"4"``. Integers have different hashes: each step is a bijection of words.
"""

import numpy as np

from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Word
from latchfree.words import hash_bytes, mix

#: What says how items are hashed, in a file or a stream. Change it with any change of the hash.
HASH_VERSION = 2

_STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _salt(seed: Word) -> Word:
    """Return a word for each seed; not 0 for any seed that somebody will choose, so that no item keeps the hash 0."""
    return mix(seed + _STEP)


@entry
def hash_int(seed: Word, item: Word) -> Word:
    """Return the hash of an integer."""
    return mix(mix(np.uint64(item)) ^ _salt(seed))


@entry
def hash_blob(seed: Word, address: Word, length: Word) -> Word:
    """Return the hash of bytes."""
    return mix(hash_bytes(address, length) ^ _salt(seed))


@kernel
def hash_ints(seed: Word, items: Array, out: Array) -> None:
    """Write the hashes of integers."""
    salt = _salt(seed)
    for k in range(len(out)):
        out[k] = mix(mix(np.uint64(items[k])) ^ salt)


@kernel
def hash_blobs(seed: Word, address: Word, ends: Array, out: Array) -> None:
    """Write the hashes of the bytes from each of `ends` to the next."""
    salt = _salt(seed)
    for k in range(len(out)):
        start = np.uint64(ends[k])
        out[k] = mix(hash_bytes(address + start, np.uint64(ends[k + 1]) - start) ^ salt)
