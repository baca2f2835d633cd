"""X9 (Top-K): the seal is made of what is in the slot, not of what was meant to be.

Shortest: A has written the first of two words of item 1 and waits; B takes the slot for item 2, writes and seals it; A
writes its second word, and seals the hash of item 2 over bytes of both.
"""

import numpy as np

from latchfree.atomics import cas, load, store
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels import count_min
from latchfree.sketches.kernels.top import (
    BYTES,
    COUNT,
    HASH,
    LENGTH,
    SEAL,
    bucket_of,
    held_at,
    least_of,
    seal_of,
    words_of,
)

_0 = np.uint64(0)


@kernel
def install(mem: Handle, record: Word, h: Word, length: Word, given: Array) -> None:
    """Write an item, and seal what the slot holds then."""
    bucket = bucket_of(mem, record, h)
    slot = held_at(mem, bucket, h)
    if slot == _0:
        slot = least_of(mem, bucket)
        old = load(mem, slot + HASH)
        if not cas(mem, slot + HASH, old, h):
            return
    store(mem, slot + COUNT, count_min.estimate(mem, record, h))
    store(mem, slot + LENGTH, length)
    for k in range(words_of(length)):
        store(mem, slot + BYTES + np.uint64(k), given[k])
    store(mem, slot + SEAL, seal_of(mem, slot, load(mem, slot + HASH)))
