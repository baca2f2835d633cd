"""`CountingBloom`: a Bloom filter from which items can be removed."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.sizing import sliced_rate, slices_for
from latchfree.sketches.filter import Filter
from latchfree.structures import COUNTING_BLOOM


def _shape(expected: Any, false_positives: Any) -> Shape:
    items = whole(expected, "expected", 1, 64 * MOST_CELLS)
    width, slices = slices_for(items, fraction(false_positives, "false_positives", 1e-9, 0.5))
    return 8 * math.ceil(width / 8), slices, items, 0


class CountingBloom(Filter):
    """A Bloom filter with counters in the place of bits, so that items can be removed.

    Parameters
    ----------
    expected : int
        How many different items there will be at a time.
    false_positives : float
        The rate of wrong answers when all expected ones are there: from 1e-9 to 0.5.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the filter would be larger than 512 MiB.

    Notes
    -----
    Remove only what was added, as often as it was added. Then no item is lost that was added and not removed. Removing
    something else, which a false positive lets through, may take other items away, as in every counting filter.

    A counter counts to 255 and then stays there: an item that was added so often stays for ever.

    Examples
    --------
    >>> here = CountingBloom(1_000)
    >>> here.add("ann")
    >>> here.remove("ann"), here.remove("ann"), "ann" in here
    (True, False, False)
    """

    __slots__ = ()

    KIND: ClassVar[int] = COUNTING_BLOOM
    CELLS: ClassVar[str] = "counters"
    CALLS: ClassVar[str] = "counting"

    def __init__(self, expected: int, false_positives: float = 0.01, *, seed: int = 0) -> None:
        self._place = Place.private(COUNTING_BLOOM, _shape(expected, false_positives), seed_of(seed))

    @classmethod
    def create(
        cls, arena: Arena, name: str, expected: int, false_positives: float = 0.01, *, seed: int = 0
    ) -> CountingBloom:
        """Make an empty filter under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(expected, false_positives), seed_of(seed))

    def __contains__(self, item: object) -> bool:
        return bool(self._place.call(SKETCH.counting_count, hash_of(item, self._place.seed)))

    def count(self, item: str | bytes | int) -> int:
        """Return how often an item is there: at least so often as it was added and not removed; 255 for more."""
        return int(self._place.call(SKETCH.counting_count, hash_of(item, self._place.seed)))

    def remove(self, item: str | bytes | int) -> bool:
        """Remove an item that was added, once; False if it is not there, and then nothing changes."""
        return bool(self._place.call(SKETCH.counting_remove, hash_of(item, self._place.seed)))

    def remove_many(self, items: Any) -> Any:
        """Remove items, without the interpreter lock; return of each whether it was there, in kind.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            As for `Bloom.add_many`.
        """
        return from_flags(*self._answers(SKETCH.counting_remove_many, items, np.uint8))

    def merge(self, other: CountingBloom) -> None:
        """Add the counters of another filter, made with the same arguments; see `Bloom.merge`."""
        self._merge(other, "counting_merge")

    @property
    def expected(self) -> int:
        """The number of items that the filter was made for."""
        return self._place.shape[2]

    @property
    def false_positives(self) -> float:
        """The rate of false positives with the expected number of different items, by theory."""
        return sliced_rate(*self._place.shape[:3])

    def _described(self) -> str:
        return f"for {self.expected:,} items, {100 * self.false_positives:.3g} % false positives"
