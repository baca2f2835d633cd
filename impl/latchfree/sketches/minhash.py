"""`MinHash`: how similar are two sets? As far as their greatest hashes agree."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import whole
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffered import Buffered
from latchfree.sketches.common.items import hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_HASHES, Shape
from latchfree.structures import MIN_HASH


def _shape(hashes: Any) -> Shape:
    return whole(hashes, "hashes", 1, MOST_HASHES), 0, 0, 0


class MinHash(Buffered):
    """The similarity of sets: the part of what either has that both have (Jaccard's index).

    Parameters
    ----------
    hashes : int
        How many hash functions: from 1 to 65,536. The standard error is at most 0.5 / sqrt(hashes).
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range.

    Notes
    -----
    Broder (1997). The published library counted the smallest hashes of one function that two sets share, without
    regard to which are the smallest of both together: disjoint sets scored 0.485.

    Examples
    --------
    >>> one, other = MinHash(1024), MinHash(1024)
    >>> one.add_many(range(0, 3_000))
    >>> other.add_many(range(1_000, 4_000))
    >>> abs(one.jaccard(other) - 0.5) < 3 * one.error
    True
    """

    __slots__ = ()

    KIND: ClassVar[int] = MIN_HASH
    CELLS: ClassVar[str] = "hashes"

    def __init__(self, hashes: int = 256, *, seed: int = 0) -> None:
        self._place = Place.private(MIN_HASH, _shape(hashes), seed_of(seed))

    @classmethod
    def create(cls, arena: Arena, name: str, hashes: int = 256, *, seed: int = 0) -> MinHash:
        """Make an empty sketch under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(hashes), seed_of(seed))

    def add(self, item: str | bytes | int) -> None:
        """Add an item; see `Bloom.add`."""
        self._place.call(SKETCH.minhash_add, hash_of(item, self._place.seed))

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock; see `Bloom.add_many`."""
        self._add_all(SKETCH.minhash_add_many, items)

    def jaccard(self, other: MinHash) -> float:
        """Return about which part of the items of either set is in both: 1 for equal sets, also for two empty ones.

        Raises
        ------
        TypeError
            If `other` is no MinHash.
        SketchMismatch
            If the other has another number of hashes or seed.
        """
        self._check_like(other)
        mine, theirs = self._copied()[0], other._copied()[0]
        return float(np.mean(mine == theirs))

    def merge(self, other: MinHash) -> None:
        """Add all that another sketch has, made with the same arguments; see `Bloom.merge`."""
        self._merge(other, "minhash_merge")

    @property
    def hashes(self) -> int:
        """How many hash functions."""
        return self._place.shape[0]

    @property
    def error(self) -> float:
        """The standard error of `jaccard` where it is greatest, at one half."""
        return 0.5 / math.sqrt(self.hashes)

    def _described(self) -> str:
        return f"of {self.hashes:,} hashes"
