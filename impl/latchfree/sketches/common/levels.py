"""Levels: what a KLL sketch remembers, an item of level h for 2**h items; the order of these, and their checks.

Example: the items 3 and 8 of level 0 and 5 of level 1 stand for the four items 3, 5, 5, 8. The rank of 5 is 3/4: so
many are at most 5. The median, with the rank 1/2, is 5.

A lane is read as words: how many items of level 0 there are (`STATE`), and then the copy in use, whose words are in
`latchfree.sketches.kernels.lanes`. A stored sketch is one lane, without the words that nobody uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.sketches.kernels import lanes as w

Words: TypeAlias = NDArray[np.uint64]

_ALL: Final = (1 << 64) - 1
_LOW: Final = (1 << 32) - 1
#: Of a lane as it is read: where level 0 begins.
_FIRST: Final = 1 + int(w.COPY_HEAD)
_LEVELS, _USED, _UNDER, _GREATEST, _SIZES = (1 + int(x) for x in (w.LEVELS, w.USED, w.UNDER, w.GREATEST, w.SIZES))
MOST_LEVELS: Final = int(w.MOST_LEVELS)


class Lane(NamedTuple):
    """What a lane has.

    Attributes
    ----------
    levels : list of array
        The items of each level, as words: of level 0 in the order in which they came, of the others sorted.
    least, greatest : int
        Of all that was ever added; all bits and 0 if nothing was.
    """

    levels: list[Words]
    least: int
    greatest: int

    @property
    def total(self) -> int:
        """How many items were added."""
        return sum(len(items) << level for level, items in enumerate(self.levels))


def above(room: int) -> int:
    """Return the most items above level 0; as the kernel of the same name, and so are the next two."""
    return 4 * room + 8 * MOST_LEVELS


def copy_words(room: int) -> int:
    """Return the words of a copy."""
    return int(w.COPY_HEAD) + room + above(room)


def lane_words(room: int) -> int:
    """Return the words of a lane."""
    return int(w.LANE_HEAD) + 2 * copy_words(room) + 7 * room


def words_read(room: int) -> int:
    """Return the words of a lane as it is read."""
    return 1 + copy_words(room)


def lane_of(words: Words, room: int) -> Lane:
    """Return what a lane has that was read."""
    fresh = words[_FIRST : _FIRST + (int(words[0]) & _LOW)]
    levels, at = [fresh], _FIRST + room
    for size in words[_SIZES + 1 : _SIZES + 1 + int(words[_LEVELS])].tolist():
        levels.append(words[at : at + size])
        at += size
    least, greatest = _ALL - int(words[_UNDER]), int(words[_GREATEST])
    if len(fresh):
        least, greatest = min(least, int(fresh.min())), max(greatest, int(fresh.max()))
    return Lane(levels, least, greatest)


def lanes_of(words: Words, room: int) -> Iterator[Lane]:
    """Yield what each lane has, of several that were read."""
    size = words_read(room)
    for at in range(0, len(words), size):
        yield lane_of(words[at : at + size], room)


def in_order(lanes: list[Lane]) -> tuple[Words, NDArray[np.int64]]:
    """Return all items in their order, and for how many items each of them and those before it stand."""
    parts = [(level, items) for lane in lanes for level, items in enumerate(lane.levels)]
    items = np.concatenate([items for _, items in parts])
    weights = np.repeat(np.array([1 << level for level, _ in parts], np.int64), [len(items) for _, items in parts])
    order = np.argsort(items, kind="stable")
    return items[order], np.cumsum(weights[order])


def packed(words: Words, room: int) -> Words:
    """Return a lane that was read, without the words that nobody uses."""
    fresh, used = int(words[0]) & _LOW, int(words[_USED])
    head = words[: _FIRST + fresh].copy()
    head[0] = fresh
    return np.concatenate([head, words[_FIRST + room : _FIRST + room + used]])


def unpacked(cells: Words, room: int) -> Words:
    """Return a lane as it is read, of what `packed` returned.

    Raises
    ------
    ValueError
        If it is none.
    """
    if len(cells) < _FIRST:
        raise ValueError(f"it has {len(cells)} words of cells, fewer than the head of a lane")
    fresh, used = int(cells[0]), int(cells[_USED])
    if fresh >= room or used != len(cells) - _FIRST - fresh or used > above(room):
        raise ValueError("its levels have not the sizes that its head says")
    words: Words = np.zeros(words_read(room), np.uint64)
    words[: _FIRST + fresh] = cells[: _FIRST + fresh]
    words[_FIRST + room : _FIRST + room + used] = cells[_FIRST + fresh :]
    check(words, room)
    return words


def check(words: Words, room: int) -> None:
    """Make sure that a lane that was read is one.

    Raises
    ------
    ValueError
        If it is not: sizes that do not fit, a level that is not sorted, an item beyond the bounds.
    """
    sizes = words[_SIZES : _SIZES + MOST_LEVELS]
    highest, used = int(words[_LEVELS]), int(words[_USED])
    if int(words[0]) & _LOW >= room or highest >= MOST_LEVELS or used > above(room):
        raise ValueError("a lane has more items than it has room for")
    if sizes[0] or sizes[highest + 1 :].any() or int(sizes.max()) > used or int(sizes.sum()) != used:
        raise ValueError("the levels of a lane have not the sizes that its head says")
    lane = lane_of(words, room)
    for level, items in enumerate(lane.levels):
        if level and (items[1:] < items[:-1]).any():
            raise ValueError(f"level {level} of a lane is not sorted")
        if len(items) and not lane.least <= int(items.min()) <= int(items.max()) <= lane.greatest:
            raise ValueError(f"level {level} of a lane has an item beyond the bounds of all items")
