"""`ScalableBloom`: a Bloom filter for a number of items that is not known beforehand."""

from __future__ import annotations

from typing import Any, ClassVar

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import LEAST_RATE, MOST_CELLS, RATE_UNIT, Shape, layers_of
from latchfree.sketches.common.sizing import rate
from latchfree.sketches.filter import Filter
from latchfree.sketches.kernels.scalable import MOST_LAYERS
from latchfree.structures import SCALABLE_BLOOM


def _shape(initial: Any, false_positives: Any, most: Any) -> Shape:
    first = whole(initial, "initial", 1, MOST_CELLS)
    last = whole(most, "most", first, 64 * MOST_CELLS)
    layers = (-(-last // first)).bit_length()
    if layers > MOST_LAYERS:
        raise ValueError(f"from {first:,} to {last:,} items takes {layers} layers, the most is {MOST_LAYERS}")
    return first, layers, round(RATE_UNIT * fraction(false_positives, "false_positives", LEAST_RATE, 0.5)), 0


class ScalableBloom(Filter):
    """A Bloom filter that grows: layers that double, each with fewer false positives, all together below a bound.

    Parameters
    ----------
    initial : int
        Items of the first layer.
    false_positives : float
        The rate of wrong answers of all layers together, at any size: from 1e-6 to 0.5.
    most : int
        How many different items there will be at most. Beyond them the last layer has more false positives.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the filter would be larger than 512 MiB.

    Notes
    -----
    Room for all layers is set aside when the filter is made; in private memory, pages are taken as layers come into
    use. A search looks at the layers in use, so a small filter is fast. It is not merged: two half-full layers make
    one that is too full.

    Examples
    --------
    >>> seen = ScalableBloom(initial=100, most=100_000)
    >>> seen.add_many(range(1_000))
    >>> seen.layers, 5 in seen, -5 in seen
    (4, True, False)
    """

    __slots__ = ()

    KIND: ClassVar[int] = SCALABLE_BLOOM
    CELLS: ClassVar[str] = "bits"
    CALLS: ClassVar[str] = "scalable"

    def __init__(
        self, initial: int = 1_000, false_positives: float = 0.01, *, most: int = 1_000_000, seed: int = 0
    ) -> None:
        self._place = Place.private(SCALABLE_BLOOM, _shape(initial, false_positives, most), seed_of(seed))

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        initial: int = 1_000,
        false_positives: float = 0.01,
        *,
        most: int = 1_000_000,
        seed: int = 0,
    ) -> ScalableBloom:
        """Make an empty filter under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(initial, false_positives, most), seed_of(seed))

    @property
    def layers(self) -> int:
        """How many layers are in use."""
        return int(self._place.call(SKETCH.scalable_last)) + 1

    @property
    def most(self) -> int:
        """How many different items the layers are for, all together."""
        return sum(items for _, _, _, _, items, _ in layers_of(self._place.shape))

    @property
    def false_positives(self) -> float:
        """The rate of false positives when all layers are full, by theory."""
        missed = 1.0
        for _, blocks, words, bits, items, _ in layers_of(self._place.shape):
            missed *= 1 - rate(blocks, words, bits, items)
        return 1 - missed

    def _described(self) -> str:
        return f"for up to {self.most:,} items, {100 * self.false_positives:.3g} % false positives"
