"""`StableBloom`: was this item seen lately? With a rate of errors that stays, however long the stream."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.sizing import fading_for, stable_rate
from latchfree.sketches.kernels.stable import TOP
from latchfree.sketches.sketch import Sketch
from latchfree.structures import STABLE_BLOOM

_HASHES = 3


def _shape(slots: Any, false_positives: Any) -> Shape:
    cells = -(-whole(slots, "slots", 64, 32 * MOST_CELLS) // 32) * 32
    wanted = fraction(false_positives, "false_positives", 1e-6, 0.5)
    return cells, _HASHES, min(cells, fading_for(cells, _HASHES, int(TOP), wanted)), 0


class StableBloom(Sketch):
    """A filter of duplicates for streams without end: old items fade, and false positives never grow beyond a bound.

    Parameters
    ----------
    slots : int
        Cells of two bits; the more, the longer an item is remembered.
    false_positives : float
        The rate of new items that are taken for old ones, in the long run: from 1e-6 to 0.5.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range.

    Notes
    -----
    Deng and Rafiei (2006). An item is found for sure until one of its three cells has been lowered three times: see
    ``spec/StableBloom.tla``. Two threads that add one new item at the same time may both be told that it is new;
    `InverseBloom` tells only one.

    Examples
    --------
    >>> seen = StableBloom(slots=100_000)
    >>> seen.add("tea"), seen.add("tea"), "oat" in seen
    (False, True, False)
    """

    __slots__ = ()

    KIND: ClassVar[int] = STABLE_BLOOM
    CELLS: ClassVar[str] = "cells"

    def __init__(self, slots: int, false_positives: float = 0.01, *, seed: int = 0) -> None:
        self._place = Place.private(STABLE_BLOOM, _shape(slots, false_positives), seed_of(seed))

    @classmethod
    def create(
        cls, arena: Arena, name: str, slots: int, false_positives: float = 0.01, *, seed: int = 0
    ) -> StableBloom:
        """Make an empty filter under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(slots, false_positives), seed_of(seed))

    def add(self, item: str | bytes | int) -> bool:
        """Add an item; return whether it was there before. See `Bloom.add`."""
        return bool(self._place.call(SKETCH.stable_add, hash_of(item, self._place.seed)))

    def add_many(self, items: Any) -> Any:
        """Add items one after the other, without the interpreter lock; return of each whether it was there, in kind.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            As for `Bloom.add_many`.
        """
        return from_flags(*self._answers(SKETCH.stable_add_many, items, np.uint8))

    def __contains__(self, item: object) -> bool:
        return bool(self._place.call(SKETCH.stable_contains, hash_of(item, self._place.seed)))

    def contains_many(self, items: Any) -> Any:
        """Return of each item whether it is there; nothing is added. In kind, as `add_many`."""
        return from_flags(*self._answers(SKETCH.stable_contains_many, items, np.uint8))

    @property
    def slots(self) -> int:
        """The number of cells."""
        return self._place.shape[0]

    @property
    def false_positives(self) -> float:
        """The rate of false positives in the long run, by theory."""
        slots, hashes, fading, _ = self._place.shape
        return stable_rate(slots, hashes, int(TOP), fading)

    def _described(self) -> str:
        return f"of {self.slots:,} cells, {100 * self.false_positives:.3g} % false positives"
