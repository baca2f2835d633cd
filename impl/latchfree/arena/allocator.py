"""Allocation of nodes by one participant, without synchronisation except to take a new chunk.

Invariant: a word belongs to at most one of: the unused tail of the arena, the unused tail of one participant's
chunk, one node, one free list.

Sizes are rounded to **size classes**: exact up to 72 words (a full C-node has 67), powers of two above. A
participant allocates from its own free list of the class, else from its chunk. An operation works in
*attempts*: `begin` reserves the worst case (or reports that the arena is full, before anything is written),
`allocate` then cannot fail, and `undo` returns everything the attempt allocated when its CAS lost the race and
nobody has seen the nodes.
"""

import numpy as np

from latchfree.arena.layout import (
    H_BUMP,
    H_CAPACITY,
    H_CHUNK,
    P_BUMP,
    P_FREE,
    P_JOURNAL,
    P_JOURNALLED,
    P_LIMIT,
)
from latchfree.atomics import cas, load, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_EXACT = np.uint64(72)
_SMALLEST_POWER = np.uint64(7)
#: Words at the end of an arena that only attempts of at most _SMALL words may use: enough for some snapshots, so
#: that a full map can still be read as a whole.
_RESERVE = np.uint64(1024)
_SMALL = np.uint64(16)
_SIZE_SHIFT = np.uint64(40)
_SIZE_MASK = np.uint64((1 << 20) - 1)


@kernel
def round_up(words: Word) -> Word:
    """Size of the class that holds `words` words."""
    if words <= _EXACT:
        return words
    size = np.uint64(128)
    while size < words:
        size <<= _1
    return size


@kernel
def size_class(size: Word) -> Word:
    """Index of the free list of a rounded size: 0 .. 71 exact, 72 + k for 2**(7 + k) words."""
    if size <= _EXACT:
        return size - _1
    k = _0
    while (np.uint64(1) << (_SMALLEST_POWER + k)) < size:
        k += _1
    return _EXACT + k


@kernel
def begin(mem: Handle, me: Word, words: Word) -> Flag:
    """Start an attempt that may allocate up to `words` words. False: the arena is full, nothing changed."""
    poke(mem, me + P_JOURNALLED, _0)
    if peek(mem, me + P_BUMP) + words <= peek(mem, me + P_LIMIT):
        return True
    size = peek(mem, H_CHUNK)
    capacity = peek(mem, H_CAPACITY)
    ordinary = capacity - _RESERVE
    if words > _SMALL:
        capacity = ordinary
    while True:
        # Acquire is enough: the words of a chunk hold nothing that anyone published.
        start = load(mem, H_BUMP)
        take = max(size, words)
        if start + take > ordinary:
            take = words
            if start + take > capacity:
                return False
        if cas(mem, H_BUMP, start, start + take):
            break
    # A chunk that continues the old one extends it, so a lone participant wastes nothing.
    if start != peek(mem, me + P_LIMIT):
        poke(mem, me + P_BUMP, start)
    poke(mem, me + P_LIMIT, start + take)
    return True


@kernel
def allocate(mem: Handle, me: Word, words: Word) -> Word:
    """Offset of a node of at least `words` words; the attempt must have reserved them. Its content is arbitrary."""
    size = round_up(words)
    head = me + P_FREE + size_class(size)
    node = peek(mem, head)
    if node != _0:
        poke(mem, head, peek(mem, node + _1))
    else:
        node = peek(mem, me + P_BUMP)
        poke(mem, me + P_BUMP, node + size)
    count = peek(mem, me + P_JOURNALLED)
    poke(mem, me + P_JOURNAL + count, node)
    poke(mem, me + P_JOURNALLED, count + _1)
    return node


@kernel
def undo(mem: Handle, me: Word) -> None:
    """Free every node of the current attempt. None may have been published."""
    count = peek(mem, me + P_JOURNALLED)
    for k in range(count):
        node = peek(mem, me + P_JOURNAL + np.uint64(k))
        head = me + P_FREE + size_class(round_up((peek(mem, node) >> _SIZE_SHIFT) & _SIZE_MASK))
        poke(mem, node + _1, peek(mem, head))
        poke(mem, head, node)
    poke(mem, me + P_JOURNALLED, _0)
