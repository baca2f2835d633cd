"""`CountMin`: how often was an item added? At least so often, and hardly more."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import flag, fraction, whole
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import chunks, column_of, counts_of, hash_of, seed_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.counted import MOST_COUNT, Counted, WithCounts
from latchfree.sketches.kernels.rows import MOST_DEPTH
from latchfree.structures import COUNT_MIN


def _shape(error: Any, confidence: Any, conservative: Any) -> Shape:
    careful = flag(conservative, "conservative")
    width = math.ceil(math.e / fraction(error, "error", math.e / MOST_CELLS, 1.0))
    depth = math.ceil(-math.log(1 - fraction(confidence, "confidence", 0.5, 1 - 1e-6)) - 1e-9)
    return width, min(depth, MOST_DEPTH), int(careful), 0


class CountMin(Counted):
    """Counts of items, in a size that does not depend on how many items there are.

    Parameters
    ----------
    error : float
        How much too high an estimate may be, as a part of all counts added: from 4e-8 to 1.
    confidence : float
        In which part of cases it is not higher than that: from 0.5 to 0.999999.
    conservative : bool
        Raise a counter no further than the estimate needs. Estimates are closer, adds are slower.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the sketch would be larger than 512 MiB.

    Notes
    -----
    Cormode and Muthukrishnan (2005); Estan and Varghese (2002) for the conservative update. An estimate is never below
    the counts added before the call. How many threads can update conservatively and lose nothing, and what it costs, is
    in `latchfree.sketches.kernels.conservative`.

    Examples
    --------
    >>> words = CountMin(error=0.001)
    >>> words.add_many(["tea", "oat", "tea"])
    >>> words.add("oat", 5)
    >>> words.estimate("tea"), words.estimate_many(["oat", "rye"])
    (2, [6, 0])
    """

    __slots__ = ()

    KIND: ClassVar[int] = COUNT_MIN
    CELLS: ClassVar[str] = "counters"

    def __init__(
        self, error: float = 0.001, confidence: float = 0.99, *, conservative: bool = False, seed: int = 0
    ) -> None:
        shape = _shape(error, confidence, conservative)
        self._place = Place.private(COUNT_MIN, shape, seed_of(seed))

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        error: float = 0.001,
        confidence: float = 0.99,
        *,
        conservative: bool = False,
        seed: int = 0,
    ) -> CountMin:
        """Make an empty sketch under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the sketch is made.
        name : str
            At most 48 bytes of UTF-8.
        error, confidence, conservative, seed
            As for `CountMin`.

        Raises
        ------
        StructureExists, DirectoryFull, ArenaFull
            As from `Bloom.create`.
        """
        shape = _shape(error, confidence, conservative)
        return cls._create(arena, name, shape, seed_of(seed))

    def add(self, item: str | bytes | int, count: int = 1) -> None:
        """Add to the count of an item.

        Parameters
        ----------
        item : str, bytes or int
            The item that was seen.
        count : int
            From 1 to 4,294,967,295.

        Raises
        ------
        TypeError, ValueError
            If an argument is of another kind or out of range.
        ArenaClosed, SketchGone
            After its arena was closed, or the sketch was unlinked.
        """
        h, more = hash_of(item, self._place.seed), whole(count, "count", 1, MOST_COUNT)
        self._place.call(SKETCH.count_add, h, more)

    def add_many(self, items: Any, counts: Any = None) -> None:
        """Add to the counts of items, without the interpreter lock; see `Bloom.add_many`.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            The items that were seen; an item may be there more than once.
        counts : array-like of int, optional
            One for each item, from 1 to 4,294,967,295; by default 1.
        """
        if counts is None:
            self._add_all(SKETCH.count_add_many, items)
            return
        column, place = column_of(items), self._place
        more, add_counts = counts_of(counts, column.length, MOST_COUNT), SKETCH.count_add_counts
        for first, hashes in chunks(column, place.seed):
            place.run(add_counts, hashes, more[first : first + len(hashes)])

    def _add_counted(self, waiting: WithCounts) -> None:
        self.add_many(waiting.items, waiting.counts)

    def estimate(self, item: str | bytes | int) -> int:
        """Return a count that is at least the item's."""
        return int(self._place.call(SKETCH.count_estimate, hash_of(item, self._place.seed)))

    def estimate_many(self, items: Any) -> Any:
        """Return the estimates of items, without the interpreter lock: a list for a list, else an array of int64."""
        found, source = self._answers(SKETCH.count_estimate_many, items, np.int64)
        return found.tolist() if source == "list" else found

    def merge(self, other: CountMin) -> None:
        """Add the counts of another sketch, made with the same arguments; see `Bloom.merge`.

        Merging a sketch with itself doubles its counts.
        """
        self._merge(other, "count_merge")

    @property
    def error(self) -> float:
        """How much too high an estimate may be, as a part of `added`."""
        return math.e / self._place.shape[0]

    @property
    def confidence(self) -> float:
        """In which part of cases it is not higher than that."""
        return -math.expm1(-self._place.shape[1])

    @property
    def conservative(self) -> bool:
        """Whether counters are raised no further than the estimate needs."""
        return bool(self._place.shape[2])

    def _described(self) -> str:
        width, depth, conservative, _ = self._place.shape
        return f"of {depth} rows of {width:,} counters{', conservative' if conservative else ''}"
