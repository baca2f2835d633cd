"""X22 (Top-K): a slot is sealed too early: before the last word is written, over what is there.

Shortest: the slot holds item 2; A takes it for item 1, writes the first of two words, seals and waits. A reader finds a
seal that fits, and bytes of both items.
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
_1 = np.uint64(1)


@kernel
def install(mem: Handle, record: Word, h: Word, length: Word, given: Array) -> None:
    """Write an item, and seal what the slot holds before the last word of the item."""
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
        if np.uint64(k) + _1 == words_of(length):
            store(mem, slot + SEAL, seal_of(mem, slot, h))
        store(mem, slot + BYTES + np.uint64(k), given[k])
