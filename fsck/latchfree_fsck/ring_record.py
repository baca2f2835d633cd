"""Check a named ring, and claim its memory.

Example: the directory says that a ring is at word 240,016. The words there must be those of a ring, and no other
structure may have words of its memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.entry import Entry
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.layout import FIRST_NODE, H_OWNED
from latchfree.streams.handle import MOST_CAPACITY, WHEN_FULL
from latchfree.streams.kernels import layout, roster
from latchfree.streams.kernels.positions import CELL_SHIFT, JUMP
from latchfree.streams.named import NAMED
from latchfree_fsck.claims import ENTRIES, NODES, STATE_WORDS, WORDS, Tree
from latchfree_fsck.record_words import words_at

_WORDS = int(layout.RING_WORDS)
_HEADER = int(roster.HEADER_WORDS)
_ALL = 1 << 64


def stretches(base: int, entry: Entry, limit: int) -> tuple[list[tuple[int, int]], int]:
    """Return offset and words of the memory of a ring and of its messages, and how many values are in the ring.

    Raises
    ------
    ValueError
        If the words are not those of a ring.
    """
    root = entry.root
    if not FIRST_NODE <= root <= limit - _WORDS or root % 16:
        raise ValueError(f"word {root} is where no ring can be")
    ring = words_at(base, root, _WORDS)
    capacity, header, cells = ring[int(layout.MASK)] + 1, ring[int(layout.HEADER)], ring[int(layout.CELLS)]
    if not 2 <= capacity <= MOST_CAPACITY or capacity & (capacity - 1) or ring[int(layout.WEAK)] > 1:
        raise ValueError(f"word {root} begins no ring")
    if not ring[int(layout.NUMBER)] or ring[int(layout.WHEN_FULL)] >= len(WHEN_FULL):
        raise ValueError(f"word {root} begins no ring that is in use")
    size = int(round_up(np.uint64(capacity) << CELL_SHIFT))
    if not FIRST_NODE <= header <= root <= header + _HEADER - _WORDS or header + _HEADER > limit:
        raise ValueError(f"the ring at word {root} is not in the memory that it names")
    if not FIRST_NODE <= cells <= limit - size:
        raise ValueError(f"the cells of the ring at word {root} are outside of the arena")
    found = [(header, _HEADER), (cells, size)]
    values = _values(base, ring, capacity)
    if ring[int(layout.PAYLOAD)]:
        found += [_block(base, value, limit) for value in values]
    return found, len(values)


def _values(base: int, ring: list[int], capacity: int) -> list[int]:
    """Return the values in a ring; those whose put or get has died under way are lost."""
    cells = words_at(base, ring[int(layout.CELLS)], capacity << int(CELL_SHIFT))
    first = ring[int(layout.DEQ)]
    held = (ring[int(layout.ENQ)] - first) % _ALL
    held -= int(JUMP) if held // int(JUMP) == 1 else 0
    if held > capacity:
        raise ValueError("its positions are further apart than it has cells")
    found = []
    for position in range(first, first + held):
        at = position % capacity << int(CELL_SHIFT)
        if cells[at + int(layout.TURN)] == (position + 1) % _ALL:
            found.append(cells[at + int(layout.VALUE)])
    return found


def _block(base: int, block: int, limit: int) -> tuple[int, int]:
    """Return offset and words of the block of a message."""
    if FIRST_NODE <= block < limit:
        (length,) = words_at(base, block, 1)
        if length <= 8 * limit:
            size = int(round_up(np.uint64(1 + -(-length // 8))))
            if block + size <= limit:
                return block, size
    raise ValueError(f"a message is said to be at word {block}, where none can be")


def walk(base: int, entry: Entry, owned: NDArray[np.uint8]) -> Tree:
    """Check a ring, and claim its words; its entries are the values in it."""
    try:
        parts, held = stretches(base, entry, FIRST_NODE + len(owned))
    except ValueError as error:
        return Tree.unknown(str(error))
    for start, size in parts:
        part = owned[start - FIRST_NODE : start - FIRST_NODE + size]
        if part.any():
            return Tree.unknown(f"the ring at word {entry.root} shares words with another structure")
        part[:] = 1
    state = np.zeros(STATE_WORDS, np.uint64)
    state[ENTRIES], state[NODES], state[WORDS] = held, len(parts), sum(size for _, size in parts)
    return Tree(state, entry.root)


def keep_roster(words: NDArray[np.uint64], roots: set[int], owned: NDArray[np.uint8]) -> None:
    """Keep those tables of the roster that are whole, with the slots of named rings alone; the others are forgotten."""
    last, table = 0, int(words[int(H_OWNED)])
    words[int(H_OWNED)] = 0
    size = int(roster.TABLE_WORDS)
    while roots and FIRST_NODE <= table <= FIRST_NODE + len(owned) - size:
        part = owned[table - FIRST_NODE : table - FIRST_NODE + size]
        if part.any():
            return
        part[:] = 1
        for slot in range(table + int(roster.FIRST_SLOT), table + size, int(roster.SLOT_WORDS)):
            if int(words[slot]) != NAMED or int(words[slot + int(roster.RING)]) not in roots:
                words[slot : slot + int(roster.SLOT_WORDS)] = 0
        following = int(words[table + int(roster.NEXT)])
        words[table + int(roster.NEXT)] = 0
        words[last + int(roster.NEXT) if last else int(H_OWNED)] = table
        last, table = table, following
