"""`Bloom`: which items were added? Yes, maybe wrongly; or certainly not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffered import Buffered
from latchfree.sketches.common.items import hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.sizing import items_for, rate, shape_for
from latchfree.structures import BLOOM


def _shape(expected: Any, false_positives: Any) -> Shape:
    items = whole(expected, "expected", 1, 64 * MOST_CELLS)
    return (*shape_for(items, fraction(false_positives, "false_positives", 1e-9, 0.5)), items)


class Bloom(Buffered):
    """A Bloom filter: a set that answers "not there" truly, and "there" with a rate of errors that you choose.

    Parameters
    ----------
    expected : int
        How many different items there will be. With more of them there are more false positives.
    false_positives : float
        The rate of wrong answers for items that were not added, when all expected ones were: from 1e-9 to 0.5.
    seed : int
        Of the hash, 0 to 2**64 - 1. Choose one that nobody knows where items come from people who want a bad answer.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the filter would be larger than 512 MiB.

    Notes
    -----
    Who has added an item finds it for ever, in whatever thread or process. While an item is being added by one thread,
    another may find it or not. See `latchfree.sketches.kernels.bloom` for the blocks, and
    `latchfree.sketches.common.sizing` for the size.

    Examples
    --------
    >>> seen = Bloom(1_000_000, false_positives=0.01)
    >>> seen.add("tea")
    >>> "tea" in seen, "oat" in seen
    (True, False)
    >>> seen.add_many(["a", "b"])
    >>> seen.contains_many(["a", "c"])
    [True, False]
    """

    __slots__ = ()

    KIND: ClassVar[int] = BLOOM
    CELLS: ClassVar[str] = "bits"

    def __init__(self, expected: int, false_positives: float = 0.01, *, seed: int = 0) -> None:
        self._place = Place.private(BLOOM, _shape(expected, false_positives), seed_of(seed))

    @classmethod
    def create(cls, arena: Arena, name: str, expected: int, false_positives: float = 0.01, *, seed: int = 0) -> Bloom:
        """Make an empty filter under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the filter is made.
        name : str
            At most 48 bytes of UTF-8.
        expected, false_positives, seed
            As for `Bloom`.

        Raises
        ------
        StructureExists
            If the arena has something of that name.
        DirectoryFull
            If the arena has 64 structures already.
        ArenaFull
            If the arena has no room: the filter takes the next power of two words.
        """
        return cls._create(arena, name, _shape(expected, false_positives), seed_of(seed))

    # items ------------------------------------------------------------------------------------------------------

    def add(self, item: str | bytes | int) -> None:
        """Add an item.

        Raises
        ------
        TypeError, ValueError
            If it is no str, bytes or int of 64 bits.
        ArenaClosed, SketchGone
            After its arena was closed, or the filter was unlinked.
        """
        self._place.call(SKETCH.bloom_add, hash_of(item, self._place.seed))

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock; each is added for itself, and others may see some of them first.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            Of strings, bytes or integers, all of one kind.

        Raises
        ------
        TypeError, ValueError
            If an item is missing or of another kind, naming it; none was added.
        ArenaClosed, SketchGone
            After its arena was closed, or the filter was unlinked.
        """
        self._add_all(SKETCH.bloom_add_many, items)

    def __contains__(self, item: object) -> bool:
        return bool(self._place.call(SKETCH.bloom_contains, hash_of(item, self._place.seed)))

    def contains_many(self, items: Any) -> Any:
        """Return of each item whether it may have been added, without the interpreter lock.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            As for `add_many`.

        Returns
        -------
        pyarrow.BooleanArray, ndarray of bool or list of bool
            In kind.
        """
        return from_flags(*self._answers(SKETCH.bloom_contains_many, items, np.uint8))

    def merge(self, other: Bloom) -> None:
        """Add all that another filter has, made with the same arguments; it stays as it is.

        Raises
        ------
        SketchMismatch
            If the other has another shape or seed; nothing changed.
        """
        self._merge(other, "bloom_merge")

    # numbers ----------------------------------------------------------------------------------------------------

    @property
    def expected(self) -> int:
        """The number of items that the filter was made for."""
        return self._place.shape[3]

    @property
    def false_positives(self) -> float:
        """The rate of false positives with the expected number of different items, by theory."""
        return rate(*self._place.shape)

    def estimate(self) -> float:
        """Return about how many different items were added, by the number of bits that are set."""
        cells, _ = self._copied()
        return items_for(*self._place.shape[:3], int(np.bitwise_count(cells).sum()))

    def _described(self) -> str:
        return f"for {self.expected:,} items, {100 * self.false_positives:.3g} % false positives"
