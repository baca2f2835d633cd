"""`PartitionedBloom`: a Bloom filter with an array of bits for each hash function."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.sketches.common.items import seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.sizing import items_in_slice, sliced_rate, slices_for
from latchfree.sketches.filter import Filter
from latchfree.structures import PARTITIONED_BLOOM


def _shape(expected: Any, false_positives: Any) -> Shape:
    items = whole(expected, "expected", 1, 64 * MOST_CELLS)
    bits, slices = slices_for(items, fraction(false_positives, "false_positives", 1e-9, 0.5))
    return math.ceil(bits / 64), slices, items, 0


class PartitionedBloom(Filter):
    """A Bloom filter in slices: smaller than `Bloom` by a tenth, and slower, as each slice is an access to memory.

    Parameters
    ----------
    expected : int
        How many different items there will be.
    false_positives : float
        The rate of wrong answers when all expected ones were added: from 1e-9 to 0.5.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the filter would be larger than 512 MiB.

    Examples
    --------
    >>> seen = PartitionedBloom(1_000_000, false_positives=0.01)
    >>> seen.add("tea")
    >>> "tea" in seen, "oat" in seen
    (True, False)
    """

    __slots__ = ()

    KIND: ClassVar[int] = PARTITIONED_BLOOM
    CELLS: ClassVar[str] = "bits"
    CALLS: ClassVar[str] = "partitioned"

    def __init__(self, expected: int, false_positives: float = 0.01, *, seed: int = 0) -> None:
        self._place = Place.private(PARTITIONED_BLOOM, _shape(expected, false_positives), seed_of(seed))

    @classmethod
    def create(
        cls, arena: Arena, name: str, expected: int, false_positives: float = 0.01, *, seed: int = 0
    ) -> PartitionedBloom:
        """Make an empty filter under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(expected, false_positives), seed_of(seed))

    def merge(self, other: PartitionedBloom) -> None:
        """Add all that another filter has, made with the same arguments; see `Bloom.merge`."""
        self._merge(other, "bloom_merge")

    @property
    def expected(self) -> int:
        """The number of items that the filter was made for."""
        return self._place.shape[2]

    @property
    def false_positives(self) -> float:
        """The rate of false positives with the expected number of different items, by theory."""
        words, slices, items, _ = self._place.shape
        return sliced_rate(64 * words, slices, items)

    def estimate(self) -> float:
        """Return about how many different items were added, by the bits that are set in a slice on average."""
        words, slices = self._place.shape[:2]
        cells, _ = self._copied()
        ones = np.bitwise_count(cells).reshape(slices, words).sum(axis=1)
        return float(np.mean([items_in_slice(64 * words, int(each)) for each in ones]))

    def _described(self) -> str:
        return f"for {self.expected:,} items, {100 * self.false_positives:.3g} % false positives"
