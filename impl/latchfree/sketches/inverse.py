"""`InverseBloom`: was this item seen before? No, maybe wrongly; or certainly yes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import whole
from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.kernels.inverse import UNSEEN
from latchfree.sketches.sketch import Sketch
from latchfree.structures import INVERSE_BLOOM


def _shape(slots: Any) -> Shape:
    return whole(slots, "slots", 2, MOST_CELLS), 0, 0, 0


class InverseBloom(Sketch):
    """An inverse Bloom filter: it may forget an item, but never takes a new one for an old one.

    Parameters
    ----------
    slots : int
        How many items it remembers at most, 8 bytes each. An item is forgotten when another one falls into its slot.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range.

    Notes
    -----
    J. Hodges, "The Opposite of a Bloom Filter" (2012). `add` is linearizable: of several threads that add one new item,
    and nothing else to its slot, exactly one is told that the item is new. A slot holds a hash of 64 bits. Different
    integers have different hashes; two strings that have the same hash, one pair in 2**64, are taken for each other.

    Examples
    --------
    >>> recent = InverseBloom(1024)
    >>> recent.add("tea"), recent.add("tea"), "oat" in recent
    (False, True, False)
    """

    __slots__ = ()

    KIND: ClassVar[int] = INVERSE_BLOOM
    CELLS: ClassVar[str] = "hashes"
    EMPTY: ClassVar[int] = int(UNSEEN)

    def __init__(self, slots: int, *, seed: int = 0) -> None:
        self._place = Place.private(INVERSE_BLOOM, _shape(slots), seed_of(seed), self.EMPTY)

    @classmethod
    def create(cls, arena: Arena, name: str, slots: int, *, seed: int = 0) -> InverseBloom:
        """Make an empty filter under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the filter is made.
        name : str
            At most 48 bytes of UTF-8.
        slots, seed
            As for `InverseBloom`.

        Raises
        ------
        StructureExists, DirectoryFull, ArenaFull
            As from `Bloom.create`.
        """
        return cls._create(arena, name, _shape(slots), seed_of(seed))

    def add(self, item: str | bytes | int) -> bool:
        """Add an item; return whether it was seen before, as far as the table remembers. See `Bloom.add`."""
        return bool(self._place.call(SKETCH.inverse_add, hash_of(item, self._place.seed)))

    def add_many(self, items: Any) -> Any:
        """Add items one after the other, without the interpreter lock; return of each whether it was seen before.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            As for `Bloom.add_many`.

        Returns
        -------
        pyarrow.BooleanArray, ndarray of bool or list of bool
            In kind.
        """
        return from_flags(*self._answers(SKETCH.inverse_add_many, items, np.uint8))

    def __contains__(self, item: object) -> bool:
        return bool(self._place.call(SKETCH.inverse_contains, hash_of(item, self._place.seed)))

    def contains_many(self, items: Any) -> Any:
        """Return of each item whether the table has it; nothing is added. In kind, as `add_many`."""
        return from_flags(*self._answers(SKETCH.inverse_contains_many, items, np.uint8))

    @property
    def slots(self) -> int:
        """How many items the filter remembers at most."""
        return self._place.shape[0]

    def _described(self) -> str:
        return f"of {self.slots:,} slots"
