"""`Buffered`: the sketches whose adds answer nothing and may come in any order, and the buffers of their threads.

Example: ``with seen.buffered() as buffer: buffer.add("tea")``. A string is looked at when it is taken, so that the
error of a wrong item is raised there and not by a later flush; its hash is made with those of the others.
"""

from __future__ import annotations

from abc import abstractmethod
from threading import get_ident
from typing import Any, ClassVar

import numpy as np

from latchfree.ctrie.codecs import INT_MAX, INT_MIN
from latchfree.sketches.buffer import Buffer
from latchfree.sketches.common.items import ANY_LENGTH, plain_item, to_encoded
from latchfree.sketches.sketch import Sketch


class ItemBuffer(Buffer[str | bytes | int]):
    """A buffer of strings, bytes and integers; see `Buffered.buffered`."""

    __slots__ = ("_limit",)

    def __init__(self, sketch: Buffered, most: int) -> None:
        self._limit = sketch.MOST_BYTES
        super().__init__(sketch, sketch._add_waiting, most)

    @staticmethod
    def _split(items: list[Any]) -> tuple[Any, list[Any]]:
        kind = type(items[0])
        same = [item for item in items if type(item) is kind]
        rest = [item for item in items if type(item) is not kind] if len(same) != len(items) else []
        return np.array(same, np.int64) if kind is int else to_encoded(same, text=kind is str), rest

    def add(self, item: str | bytes | int) -> None:
        """Take an item; if there is no room, add what waits to the sketch before.

        Raises
        ------
        TypeError, ValueError
            If it is no item of the sketch; or the buffer is closed.
        RuntimeError
            If another thread has made the buffer; as MadeBeforeFork, if the parent of this process has.
        ArenaClosed, SketchGone
            If what waits cannot be added; the item is not taken, and the others go on waiting.
        """
        if type(item) is str:
            if not item.isascii() or len(item) > self._limit:
                item = plain_item(item, self._limit)
        elif type(item) is not int or not INT_MIN <= item <= INT_MAX:
            item = plain_item(item, self._limit)
        items = self._items
        if len(items) >= self._most or get_ident() != self._ident:
            self._make_room()
        items.append(item)


class Buffered(Sketch):
    """A sketch whose adds answer nothing and may come in any order, so that a thread may keep some of them back."""

    __slots__ = ()

    #: The bytes of an item at most.
    MOST_BYTES: ClassVar[int] = ANY_LENGTH

    @abstractmethod
    def add_many(self, items: Any) -> None:
        """Add items."""

    def _add_waiting(self, waiting: Any) -> None:
        """Add what a buffer hands over."""
        self.add_many(waiting)

    def buffered(self, most: int = 256) -> ItemBuffer:
        """Return a buffer for the adds of this thread: faster, and seen by others later.

        Parameters
        ----------
        most : int
            How many items wait at most, from 1 to 16,384. An answer of the sketch misses at most the last `most` items
            of each open buffer.

        Returns
        -------
        ItemBuffer
            With `add`, `flush`, `close`; a context manager, which closes it.

        Examples
        --------
        >>> from latchfree.sketches import CountMin
        >>> words = CountMin()
        >>> with words.buffered(most=2) as buffer:
        ...     for word in ["tea", "oat", "tea"]:
        ...         buffer.add(word)
        ...     words.estimate("tea"), buffer.waiting
        (1, 1)
        >>> words.estimate("tea")
        2
        """
        return ItemBuffer(self, most)
