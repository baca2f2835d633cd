"""`CountMin`: how often was an item added? At least so often, and hardly more."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import flag, fraction, whole
from latchfree.ctrie.columns import Column
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.hashes import OWN, SPARK, hash_named
from latchfree.sketches.common.hashing import Hashing
from latchfree.sketches.common.items import CHUNK, chunks, column_of, counts_of, hash_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.stored import bytes_of
from latchfree.sketches.counted import MOST_COUNT, Counted, WithCounts, are_enough
from latchfree.sketches.foreign import datasketches_counts, spark_counts
from latchfree.sketches.foreign.datasketches_counts import Counts
from latchfree.sketches.kernels.rows import MOST_DEPTH
from latchfree.structures import COUNT_MIN


def _shape(error: Any, confidence: Any, conservative: Any, number: int) -> Shape:
    careful = flag(conservative, "conservative")
    if careful and number != OWN:
        raise ValueError("a conservative sketch is of our own hash: other libraries have none")
    wanted = fraction(error, "error", math.e / MOST_CELLS, 1.0)
    wrong = 1 - fraction(confidence, "confidence", 0.5, 1 - 1e-6)
    if number == SPARK:  # its sizes, so that a sketch made with the same arguments there has the same shape
        return math.ceil(2 / wanted), math.ceil(-math.log1p(wrong - 1) / math.log(2)), 0, number
    depth = math.ceil(-math.log(wrong) - 1e-9)
    return math.ceil(math.e / wanted), min(depth, MOST_DEPTH), int(careful), number


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
    seed : int, optional
        Of the hash, 0 to 2**64 - 1, by default 0. The hash ``"spark"`` has seeds of 32 bits with a sign;
        ``"datasketches"`` has the default 9001.
    hash : str
        ``"latchfree"``; or ``"datasketches"`` or ``"spark"`` for sketches that Apache DataSketches or Spark is to read,
        see `to_datasketches` and `to_spark`.

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
        self,
        error: float = 0.001,
        confidence: float = 0.99,
        *,
        conservative: bool = False,
        seed: int | None = None,
        hash: str = "latchfree",
    ) -> None:
        number, word = hash_named(COUNT_MIN, hash, seed)
        self._place = Place.private(COUNT_MIN, _shape(error, confidence, conservative, number), word)

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        error: float = 0.001,
        confidence: float = 0.99,
        *,
        conservative: bool = False,
        seed: int | None = None,
        hash: str = "latchfree",
    ) -> CountMin:
        """Make an empty sketch under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the sketch is made.
        name : str
            At most 48 bytes of UTF-8.
        error, confidence, conservative, seed, hash
            As for `CountMin`.

        Raises
        ------
        StructureExists, DirectoryFull, ArenaFull
            As from `Bloom.create`.
        """
        number, word = hash_named(COUNT_MIN, hash, seed)
        return cls._create(arena, name, _shape(error, confidence, conservative, number), word)

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
        place = self._place
        if place.hashing is not None:
            self.add_many([item], [whole(count, "count", 1, MOST_COUNT)])
            return
        h, more = hash_of(item, place.seed), whole(count, "count", 1, MOST_COUNT)
        place.call(SKETCH.count_add, h, more)

    def add_many(self, items: Any, counts: Any = None) -> None:
        """Add to the counts of items, without the interpreter lock; see `Bloom.add_many`.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            The items that were seen; an item may be there more than once.
        counts : array-like of int, optional
            One for each item, from 1 to 4,294,967,295; by default 1.
        """
        hashing = self._place.hashing
        if hashing is not None:
            self._add_foreign(hashing, column_of(items), counts)
            return
        if counts is None:
            self._add_ones(column_of(items))
            return
        column, place = column_of(items), self._place
        more, add_counts = counts_of(counts, column.length, MOST_COUNT), SKETCH.count_add_counts
        for first, hashes in chunks(column, place.seed):
            place.run(add_counts, hashes, more[first : first + len(hashes)])

    def _add_ones(self, column: Column) -> None:
        """Add one of each item of a column."""
        place = self._place
        own = self._own_counters(0 if self.conservative else column.length)
        for _, hashes in chunks(column, place.seed):
            if are_enough(hashes, own):
                place.run(SKETCH.count_add_slice, hashes, own)
            else:
                place.run(SKETCH.count_add_many, hashes)

    def _add_foreign(self, hashing: Hashing, column: Column, counts: Any) -> None:
        """Add to the counts of items, hashed as by another library."""
        ones = counts is None
        more = np.ones(min(CHUNK, column.length), np.int64) if ones else counts_of(counts, column.length, MOST_COUNT)
        add_counts = SKETCH.counter_add_counts
        for first, count, places in hashing.chunks(column):
            self._place.run(add_counts, places, more[:count] if ones else more[first : first + count])

    def _add_counted(self, waiting: WithCounts) -> None:
        self.add_many(waiting.items, waiting.counts)

    def estimate(self, item: str | bytes | int) -> int:
        """Return a count that is at least the item's."""
        place = self._place
        if place.hashing is not None:
            return int(self.estimate_many([item])[0])
        return int(place.call(SKETCH.count_estimate, hash_of(item, place.seed)))

    def estimate_many(self, items: Any) -> Any:
        """Return the estimates of items, without the interpreter lock: a list for a list, else an array of int64."""
        hashing = self._place.hashing
        if hashing is None:
            found, source = self._answers(SKETCH.count_estimate_many, items, np.int64)
        else:
            found, source = self._foreign_answers(hashing, SKETCH.counter_estimate_many, items, np.int64)
        return found.tolist() if source == "list" else found

    def merge(self, other: CountMin) -> None:
        """Add the counts of another sketch, made with the same arguments; see `Bloom.merge`.

        Merging a sketch with itself doubles its counts.
        """
        self._merge(other, "count_merge")

    @property
    def error(self) -> float:
        """How much too high an estimate may be, as a part of `added`."""
        width, _, _, number = self._place.shape
        return (2 if number == SPARK else math.e) / width

    @property
    def confidence(self) -> float:
        """In which part of cases it is not higher than that."""
        _, depth, _, number = self._place.shape
        return -math.expm1(-depth * (math.log(2) if number == SPARK else 1))

    @property
    def conservative(self) -> bool:
        """Whether counters are raised no further than the estimate needs."""
        return bool(self._place.shape[2])

    # other libraries' bytes ---------------------------------------------------------------------------------------

    def _counts(self) -> Counts:
        cells, added = self._copied()
        return Counts(*self._place.shape[:2], added, cells)

    @classmethod
    def _of_counts(cls, counts: Counts, number: int, word: int) -> CountMin:
        try:
            made = cls._of(Place.private(COUNT_MIN, (counts.width, counts.depth, 0, number), word))
        except ValueError as error:
            raise SketchInvalid(str(error)) from None
        if len(counts.counters):
            made._place.cells[:] = counts.counters
        made._place.set_added(counts.total)
        return made

    def to_datasketches(self) -> bytes:
        """Return the sketch as Apache DataSketches stores a `count_min_sketch`, which counts in floats.

        Raises
        ------
        SketchMismatch
            If the sketch was not made with ``hash="datasketches"``.
        ValueError
            If a count is above 2**53.
        """
        self._check_hash("datasketches")
        return datasketches_counts.pack(self._counts(), self._place.seed)

    @classmethod
    def from_datasketches(cls, data: bytes, *, seed: int | None = None) -> CountMin:
        """Return a private sketch of the bytes of a `count_min_sketch` of Apache DataSketches, as compiled by GCC.

        Parameters
        ----------
        data : bytes
            What `serialize` returned.
        seed : int, optional
            With which it was made; by default 9001, as there.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a sketch, of that seed, with counts that are whole numbers.
        """
        number, word = hash_named(COUNT_MIN, "datasketches", seed)
        return cls._of_counts(datasketches_counts.unpack(bytes_of(data, "from_datasketches"), word), number, word)

    def to_spark(self) -> bytes:
        """Return the sketch as Apache Spark stores a `CountMinSketch`.

        Raises
        ------
        SketchMismatch
            If the sketch was not made with ``hash="spark"``.
        ValueError
            If a count is above 2**63 - 1.
        """
        self._check_hash("spark")
        return spark_counts.pack(self._counts(), self._place.seed)

    @classmethod
    def from_spark(cls, data: bytes, *, seed: int | None = None) -> CountMin:
        """Return a private sketch of the bytes of a `CountMinSketch` of Apache Spark.

        Parameters
        ----------
        data : bytes
            What `toByteArray` or SQL's `count_min_sketch` returned.
        seed : int, optional
            With which it was made. The bytes tell it, but for a sketch of a single row, which several seeds may make.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a sketch.
        """
        number, word = hash_named(COUNT_MIN, "spark", seed)
        counts, word = spark_counts.unpack(bytes_of(data, "from_spark"), None if seed is None else word)
        return cls._of_counts(counts, number, word)

    def _described(self) -> str:
        width, depth, conservative, _ = self._place.shape
        return f"of {depth} rows of {width:,} counters{', conservative' if conservative else ''}"
