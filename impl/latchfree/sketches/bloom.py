"""`Bloom`: which items were added? Yes, maybe wrongly; or certainly not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffered import Buffered
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.hashes import OWN, hash_named
from latchfree.sketches.common.items import hash_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape
from latchfree.sketches.common.sizing import items_for, rate, shape_for
from latchfree.sketches.common.stored import bytes_of
from latchfree.sketches.foreign import spark_bits
from latchfree.structures import BLOOM


def _shape(expected: Any, false_positives: Any, number: int) -> Shape:
    items = whole(expected, "expected", 1, 64 * MOST_CELLS)
    wanted = fraction(false_positives, "false_positives", 1e-9, 0.5)
    if number != OWN:
        words, each = spark_bits.size_for(items, wanted)
        return words, number, each, 0
    return (*shape_for(items, wanted), items)


class Bloom(Buffered):
    """A Bloom filter: a set that answers "not there" truly, and "there" with a rate of errors that you choose.

    Parameters
    ----------
    expected : int
        How many different items there will be. With more of them there are more false positives.
    false_positives : float
        The rate of wrong answers for items that were not added, when all expected ones were: from 1e-9 to 0.5.
    seed : int, optional
        Of the hash, 0 to 2**64 - 1, by default 0; of ``"spark-v2"`` 32 bits with a sign. Choose one that nobody knows
        where items come from people who want a bad answer.
    hash : str
        ``"latchfree"``; or ``"spark-v1"`` or ``"spark-v2"`` for filters that Apache Spark is to read, see `to_spark`.

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

    def __init__(
        self, expected: int, false_positives: float = 0.01, *, seed: int | None = None, hash: str = "latchfree"
    ) -> None:
        number, word = hash_named(BLOOM, hash, seed)
        self._place = Place.private(BLOOM, _shape(expected, false_positives, number), word)

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        expected: int,
        false_positives: float = 0.01,
        *,
        seed: int | None = None,
        hash: str = "latchfree",
    ) -> Bloom:
        """Make an empty filter under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the filter is made.
        name : str
            At most 48 bytes of UTF-8.
        expected, false_positives, seed, hash
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
        number, word = hash_named(BLOOM, hash, seed)
        return cls._create(arena, name, _shape(expected, false_positives, number), word)

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
        place = self._place
        if place.hashing is None:
            place.call(SKETCH.bloom_add, hash_of(item, place.seed))
        else:
            self._call_foreign(place.hashing, SKETCH.bit_add_many, [item])

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
        hashing = self._place.hashing
        if hashing is None:
            self._add_all(SKETCH.bloom_add_many, items)
        else:
            self._call_foreign(hashing, SKETCH.bit_add_many, items)

    def __contains__(self, item: object) -> bool:
        place = self._place
        if place.hashing is not None:
            return bool(self.contains_many([item])[0])
        return bool(place.call(SKETCH.bloom_contains, hash_of(item, place.seed)))

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
        hashing = self._place.hashing
        if hashing is None:
            return from_flags(*self._answers(SKETCH.bloom_contains_many, items, np.uint8))
        return from_flags(*self._foreign_answers(hashing, SKETCH.bit_contains_many, items, np.uint8))

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
        """The number of items that the filter was made for; about that of a filter with Spark's hash."""
        words, _, each, items = self._place.shape
        return spark_bits.items_for(words, each) if self._place.hashing is not None else items

    @property
    def false_positives(self) -> float:
        """The rate of false positives with the expected number of different items, by theory."""
        words, _, each, _ = self._place.shape
        if self._place.hashing is not None:
            return spark_bits.rate(words, each, self.expected)
        return rate(*self._place.shape)

    def estimate(self) -> float:
        """Return about how many different items were added, by the number of bits that are set."""
        cells, _ = self._copied()
        ones, shape = int(np.bitwise_count(cells).sum()), self._place.shape
        if self._place.hashing is not None:
            return spark_bits.items_with(shape[0], shape[2], ones)
        return items_for(*shape[:3], ones)

    def to_spark(self) -> bytes:
        """Return the filter as Apache Spark stores a `BloomFilter`, of the version of its hash.

        Raises
        ------
        SketchMismatch
            If the filter was not made with ``hash="spark-v1"`` or ``hash="spark-v2"``.
        """
        self._check_hash("spark-v1", "spark-v2")
        cells, _ = self._copied()
        _, number, each, _ = self._place.shape
        return spark_bits.pack(spark_bits.Bits(number, each, self._place.seed, cells))

    @classmethod
    def from_spark(cls, data: bytes) -> Bloom:
        """Return a private filter of the bytes of a `BloomFilter` of Apache Spark, of version 1 or 2.

        The bytes do not say how many items were added, so `added` is 0; `estimate` tells by the bits.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a filter.
        """
        bits = spark_bits.unpack(bytes_of(data, "from_spark"))
        try:
            made = cls._of(Place.private(BLOOM, (len(bits.words), bits.number, bits.each, 0), bits.seed))
        except ValueError as error:
            raise SketchInvalid(str(error)) from None
        made._place.cells[:] = bits.words
        return made

    def _described(self) -> str:
        return f"for {self.expected:,} items, {100 * self.false_positives:.3g} % false positives"
