"""The bytes of a KLL sketch as Apache DataSketches writes them, for 64-bit floats.

Example: ``kll_doubles_sketch.deserialize(sizes.to_datasketches())`` in Python, C++ or Java is a sketch that answers as
ours does, and that merges with others of DataSketches.

=======  ======================================================================
bytes    content, little-endian
=======  ======================================================================
0        words of 4 bytes before the items: 2 if there is at most one, else 5
1        version: 2 for a single item, else 1
2        family, 15
3        flags: 1 empty, 2 level 0 is sorted, 4 a single item
4-5      k, the room of the highest level
6        m, the least room of a level, 8
8-15     number of items
16-17    the least k of all that were merged
18       number of levels
20-      where each level begins, 4 bytes each, in an array as long as the room
         of all levels; then least and greatest item; then items, level 0 first
=======  ======================================================================

An empty sketch ends with byte 7, one of a single item has that from byte 8 on.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Final

import numpy as np

from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.levels import MOST_LEVELS, Lane, Words
from latchfree.sketches.common.numbers import numbers_of, words_of

_FAMILY: Final = 15
_LEAST_ROOM: Final = 8
_EMPTY, _SORTED, _SINGLE = 1, 2, 4
_HEAD: Final = struct.Struct("<4BHBx")
_FULL: Final = struct.Struct("<QHBx")
_FEW_LEVELS: Final = 30


def _part(k: int, depth: int) -> int:
    """Return the room of a level so far below the highest, as DataSketches rounds it."""
    if depth > _FEW_LEVELS:
        return _part(_part(k, depth // 2), depth - depth // 2)
    return int(((2 * k << depth) // 3**depth + 1) >> 1)


def rooms(k: int, levels: int) -> list[int]:
    """Return the room of each level, the lowest first."""
    return [max(_LEAST_ROOM, _part(k, levels - 1 - h)) for h in range(levels)]


def _fitted(levels: list[Words], k: int, seed: int) -> list[Words]:
    """Return levels that fit into the room of all: the lowest that is full is compacted, as often as needed."""
    levels, coins = [np.sort(items) for items in levels], 0
    while sum(map(len, levels)) > sum(room := rooms(k, len(levels))):
        h = next(h for h, items in enumerate(levels) if len(items) >= room[h])
        coins += 1
        odd, coin = len(levels[h]) & 1, SKETCH.hash_int(seed, coins) >> 63
        more = levels[h][odd + coin :: 2]
        levels[h] = levels[h][:odd]
        if h + 1 == len(levels):
            levels.append(more)
        else:
            levels[h + 1] = np.sort(np.concatenate([levels[h + 1], more]))
    return levels


def pack(lanes: list[Lane], k: int, seed: int) -> bytes:
    """Return what some lanes have as bytes."""
    highest = max((len(lane.levels) for lane in lanes), default=0)
    joined = [
        np.concatenate([lane.levels[h] for lane in lanes if h < len(lane.levels)] or [np.empty(0, np.uint64)])
        for h in range(highest)
    ]
    total = sum(lane.total for lane in lanes)
    if total <= 1:
        items = numbers_of(joined[0]) if total else np.empty(0)
        flags = _SORTED | (_SINGLE if total else _EMPTY)
        return _HEAD.pack(2, 1 + total, _FAMILY, flags, k, _LEAST_ROOM) + items.astype("<f8").tobytes()
    levels = _fitted(joined, k, seed)
    starts = np.cumsum([sum(rooms(k, len(levels))) - sum(map(len, levels)), *map(len, levels[:-1])])
    bounds = [min(lane.least for lane in lanes), max(lane.greatest for lane in lanes)]
    items = numbers_of(np.concatenate([np.array(bounds, np.uint64), *levels]))
    head = _HEAD.pack(5, 1, _FAMILY, _SORTED, k, _LEAST_ROOM) + _FULL.pack(total, k, len(levels))
    return head + starts.astype("<u4").tobytes() + items.astype("<f8").tobytes()


def unpack(data: bytes) -> tuple[int, Lane | None]:
    """Return k, and what a sketch in bytes has; None if it is empty.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a sketch.
    """
    if len(data) < _HEAD.size:
        raise SketchInvalid(f"no sketch of DataSketches: it has {len(data)} bytes")
    words, version, family, flags, k, least = _HEAD.unpack_from(data)
    if family != _FAMILY or (words, version) not in ((2, 1), (2, 2), (5, 1)) or k < _LEAST_ROOM:
        raise SketchInvalid("these are not the bytes of a KLL sketch of DataSketches, of a version that we read")
    if least != _LEAST_ROOM:
        raise SketchInvalid(f"a KLL sketch whose levels have room for {least} items at least; we read {_LEAST_ROOM}")
    if flags & _EMPTY:
        return k, None
    if flags & _SINGLE:
        levels, rest, total = [1], data[_HEAD.size :], 1
    else:
        levels, rest, total = _levels_of(data, k)
    if len(rest) != 8 * (sum(levels) + (2 if not flags & _SINGLE else 0)):
        raise SketchInvalid(f"a damaged KLL sketch, or one of other items than 64-bit floats: {len(data)} bytes")
    items = np.frombuffer(rest, "<f8").astype(np.float64)
    if np.isnan(items).any():
        raise SketchInvalid("a damaged KLL sketch: it has items that are no numbers")
    ordered = words_of(items)
    bounds, ordered = (ordered, ordered) if flags & _SINGLE else (ordered[:2], ordered[2:])
    parts = np.split(ordered, np.cumsum(levels)[:-1])
    lane = Lane([parts[0], *map(np.sort, parts[1:])], int(bounds[0]), int(bounds[-1]))
    if lane.total != total or int(ordered.min()) < lane.least or int(ordered.max()) > lane.greatest:
        raise SketchInvalid("a damaged KLL sketch: its items are not as many as it says, or beyond their bounds")
    return k, lane


def _levels_of(data: bytes, k: int) -> tuple[list[int], bytes, int]:
    """Return the sizes of the levels, what follows, and how many items there are."""
    start = _HEAD.size + _FULL.size
    if len(data) < start:
        raise SketchInvalid("a damaged KLL sketch: it is cut short")
    total, _, count = _FULL.unpack_from(data, _HEAD.size)
    if not 1 <= count < MOST_LEVELS or len(data) < start + 4 * count:
        raise SketchInvalid(f"a damaged KLL sketch: {count} levels")
    starts = [*struct.unpack_from(f"<{count}I", data, start), sum(rooms(k, count))]
    sizes = [end - begin for begin, end in pairwise(starts)]
    if min(sizes) < 0:
        raise SketchInvalid("a damaged KLL sketch: its levels do not follow each other")
    return sizes, data[start + 4 * count :], total
