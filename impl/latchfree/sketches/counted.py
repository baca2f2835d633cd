"""`Counted`: the sketches whose adds have a count, and the buffers of their threads.

Example: ``buffer.add("tea", 5)`` waits as ``("tea", 5)``, and ``buffer.add("oat")`` as ``"oat"``: a count of one costs
nothing. A flush adds what waits without counts in one call, and what waits with counts in another one.

Invariant: an add with a count is one of the `most` that wait, however great the count. So an answer misses at most the
last `most` adds of each open buffer, whole ones.
"""

from __future__ import annotations

from abc import abstractmethod
from threading import get_ident
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import whole
from latchfree.ctrie.codecs import INT_MAX, INT_MIN
from latchfree.sketches.buffered import Buffered, ItemBuffer
from latchfree.sketches.common.items import CHUNK, plain_item

#: The most that one add may count.
MOST_COUNT = (1 << 32) - 1
#: With more counters than this for each item, it is quicker to add items one by one than to count them apart.
_CELLS_OF_AN_ITEM = 4


class WithCounts(NamedTuple):
    """Items that waited, and how often each was seen.

    Attributes
    ----------
    items : object
        As `add_many` takes them.
    counts : ndarray of int64
    """

    items: Any
    counts: NDArray[np.int64]


class CountBuffer(ItemBuffer):
    """A buffer of items with counts; see `Counted.buffered`."""

    __slots__ = ()

    @staticmethod
    def _split(items: list[Any]) -> tuple[Any, list[Any]]:
        if type(items[0]) is not tuple:
            return ItemBuffer._split(items)
        kind = type(items[0][0])
        mine = [type(each) is tuple and type(each[0]) is kind for each in items]
        same = [each for each, is_mine in zip(items, mine, strict=True) if is_mine]
        rest = [each for each, is_mine in zip(items, mine, strict=True) if not is_mine]
        return _with_counts(same), rest

    def add(self, item: str | bytes | int, count: int = 1) -> None:
        """Take an item, and how often it was seen; if there is no room, add what waits to the sketch before.

        Parameters
        ----------
        item : str, bytes or int
            The item that was seen.
        count : int
            From 1 to 4,294,967,295.

        Raises
        ------
        TypeError, ValueError, RuntimeError, ArenaClosed, SketchGone
            As from `ItemBuffer.add`; also if `count` is no such integer.
        """
        if type(item) is str:
            if not item.isascii() or len(item) > self._limit:
                item = plain_item(item, self._limit)
        elif type(item) is not int or not INT_MIN <= item <= INT_MAX:
            item = plain_item(item, self._limit)
        waiting: Any = item
        if type(count) is not int or count != 1:
            waiting = item, whole(count, "count", 1, MOST_COUNT)
        items = self._items
        if len(items) >= self._most or get_ident() != self._ident:
            self._make_room()
        items.append(waiting)


class OneCountBuffer(CountBuffer):
    """A buffer for a sketch whose `add_many` takes no counts: what waits with a count is added alone."""

    __slots__ = ()

    @staticmethod
    def _split(items: list[Any]) -> tuple[Any, list[Any]]:
        if type(items[0]) is not tuple:
            return ItemBuffer._split(items)
        return _with_counts(items[:1]), items[1:]


def _with_counts(waiting: list[tuple[str | bytes | int, int]]) -> WithCounts:
    items, _ = ItemBuffer._split([item for item, _ in waiting])
    return WithCounts(items, np.array([count for _, count in waiting], np.int64))


def are_enough(hashes: NDArray[np.uint64], own: NDArray[np.uint64]) -> bool:
    """Return whether so many items are counted apart, in the words that `Counted._own_counters` has returned."""
    return 0 < len(own) <= _CELLS_OF_AN_ITEM * len(hashes)


class Counted(Buffered):
    """A sketch whose adds have a count."""

    __slots__ = ()

    #: The class of its buffers.
    BUFFER: ClassVar[type[CountBuffer]] = CountBuffer

    @abstractmethod
    def _add_counted(self, waiting: WithCounts) -> None:
        """Add items with counts that have waited, in one step: all of them, or none if it raises."""

    def _own_counters(self, items: int) -> NDArray[np.uint64]:
        """Return words to count so many items apart in: one for each counter, or none if they are too few."""
        width, depth = self._place.shape[:2]
        count = width * depth
        return np.empty(count if count <= _CELLS_OF_AN_ITEM * min(CHUNK, items) else 0, np.uint64)

    def _add_waiting(self, waiting: Any) -> None:
        if isinstance(waiting, WithCounts):
            self._add_counted(waiting)
        else:
            self.add_many(waiting)

    def buffered(self, most: int = 256) -> CountBuffer:
        """Return a buffer for the adds of this thread, with counts; see `Buffered.buffered`.

        Parameters
        ----------
        most : int
            How many adds wait at most, from 1 to 16,384, whatever their counts.

        Examples
        --------
        >>> from latchfree.sketches import CountMin
        >>> words = CountMin()
        >>> with words.buffered() as buffer:
        ...     buffer.add("tea", 5)
        ...     buffer.add("tea")
        >>> words.estimate("tea"), words.added
        (6, 6)
        """
        return self.BUFFER(self, most)
