"""Check the record of a sketch, and claim its memory.

Example: the directory says that a Bloom filter is at word 240,000. The record there must say so, too, its shape must be
that of a Bloom filter, and no other structure may have words of the memory that the shape needs.

Most cells hold any bits, so nothing else of a sketch can be damaged but the registers of a HyperLogLog and the lanes of
a KLL sketch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.entry import Entry
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.layout import FIRST_NODE
from latchfree.atomics import peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.common import levels
from latchfree.sketches.common.hashes import check_seed
from latchfree.sketches.common.place import version_of
from latchfree.sketches.common.shapes import MOST_HEAD, OVERHEAD, cells_of, check_head, most_rank
from latchfree.sketches.kernels import lanes
from latchfree.sketches.kernels import record as r
from latchfree.structures import HYPERLOGLOG, KLL
from latchfree_fsck.claims import ENTRIES, NODES, STATE_WORDS, WORDS, Tree
from latchfree_fsck.record_words import words_at

_0 = np.uint64(0)
_8 = np.uint64(8)
_BYTE = np.uint64(255)
_HEAD = int(r.FIRST_CELL)
_SHAPE = int(r.SHAPE)


@kernel
def _highest(mem: Handle, at: Word, cells: Word) -> Word:
    highest = _0
    for k in range(cells):
        word = peek(mem, at + np.uint64(k))
        for _ in range(8):
            highest = max(highest, word & _BYTE)
            word >>= _8
    return highest


@kernel
def _settle(mem: Handle, record: Word) -> None:
    """Take back what killed processes have announced; nobody has the sketch open."""
    poke(mem, record + r.ANNOUNCED, _0)


@kernel
def _set_free(mem: Handle, lane: Word) -> None:
    """Take back the claim of a killed process."""
    poke(mem, lane + lanes.OWNER, _0)


def _lanes(root: int, room: int, count: int) -> list[int]:
    """Return the offsets of the lanes of a KLL sketch."""
    words = levels.lane_words(room)
    return [root + _HEAD + k * words for k in range(count)]


def _check_lane(base: int, lane: int, room: int) -> None:
    """Check what a lane has; the arena may be in use, so a copy that is being replaced is read again."""
    at, size = lane + int(lanes.STATE), levels.words_read(room)
    while True:
        (state,) = words_at(base, at, 1)
        copy = lane + int(lanes.LANE_HEAD) + (state >> 32 & 1) * levels.copy_words(room)
        words = np.array([state, *words_at(base, copy, size - 1)], np.uint64)
        if words_at(base, at, 1)[0] >> 32 == state >> 32:
            return levels.check(words, room)


def place_of(base: int, entry: Entry, limit: int) -> tuple[int, int, int]:
    """Return start and size of a sketch's memory, and how many items were added.

    Raises
    ------
    ValueError
        If the record is not that of the sketch which the directory names.
    """
    root = entry.root
    if not FIRST_NODE <= root <= limit - _HEAD or root % 8:
        raise ValueError(f"word {root} is where no sketch can be")
    head = words_at(base, root, _HEAD)
    first, second, third, fourth = head[_SHAPE : _SHAPE + 4]
    start, size = head[int(r.START)], head[int(r.SIZE)]
    shape = (first, second, third, fourth)
    version = version_of(entry.kind, shape)
    if head[int(r.KIND)] != entry.kind or head[int(r.VERSION)] != version or not head[int(r.NUMBER)]:
        raise ValueError(f"word {root} begins no such sketch of version {version}")
    cells = cells_of(entry.kind, shape)
    check_seed(entry.kind, shape, head[int(r.SEED)])
    if head[int(r.CELLS)] != cells or size != int(round_up(np.uint64(OVERHEAD + cells))):
        raise ValueError(f"the sketch at word {root} has not the size of its shape")
    if not (FIRST_NODE <= start <= root < start + 8) or start + size > limit:
        raise ValueError(f"the sketch at word {root} is not in the memory that it names")
    check_head(entry.kind, shape, words_at(base, root + _HEAD, min(MOST_HEAD, cells)))
    registers = np.uint64(base), np.uint64(root + _HEAD), np.uint64(cells)
    if entry.kind == HYPERLOGLOG and _highest(*registers) > most_rank(shape):
        raise ValueError(f"the sketch at word {root} has registers that are too high")
    for lane in _lanes(root, first, second) if entry.kind == KLL else ():
        _check_lane(base, lane, first)
    return start, size, head[int(r.ADDED)]


def walk(base: int, entry: Entry, owned: NDArray[np.uint8], *, settle: bool) -> Tree:
    """Check a sketch, and claim its words; its entries are the items added."""
    try:
        start, size, added = place_of(base, entry, FIRST_NODE + len(owned))
    except ValueError as error:
        return Tree.unknown(str(error))
    part = owned[start - FIRST_NODE : start - FIRST_NODE + size]
    if part.any():
        return Tree.unknown(f"the sketch at word {entry.root} shares words with another structure")
    part[:] = 1
    if settle:
        _settle(np.uint64(base), np.uint64(entry.root))
        room, count = words_at(base, entry.root + _SHAPE, 2)
        for lane in _lanes(entry.root, room, count) if entry.kind == KLL else ():
            _set_free(np.uint64(base), np.uint64(lane))
    state = np.zeros(STATE_WORDS, np.uint64)
    state[ENTRIES], state[NODES], state[WORDS] = added, 1, size
    return Tree(state, entry.root)
