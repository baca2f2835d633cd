"""`HyperLogLog`: how many different items were there? About so many."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from latchfree.arena import Arena
from latchfree.arguments import fraction
from latchfree.sketches import cardinality
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffered import Buffered
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.hashes import hash_named
from latchfree.sketches.common.items import hash_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import LEAST_PRECISION, MOST_PRECISION, Shape, most_rank
from latchfree.sketches.common.stored import bytes_of
from latchfree.sketches.foreign import datasketches_hll
from latchfree.structures import HYPERLOGLOG

#: The standard error is this over the root of the number of registers (Flajolet and others, 2007).
_ERROR = 1.04


def _shape(error: Any, number: int) -> Shape:
    least, most = (_ERROR / math.sqrt(1 << precision) for precision in (MOST_PRECISION, LEAST_PRECISION))
    wanted = fraction(error, "error", least, most)
    return max(LEAST_PRECISION, math.ceil(math.log2((_ERROR / wanted) ** 2) - 1e-9)), number, 0, 0


class HyperLogLog(Buffered):
    """A counter of different items in a few kilobytes.

    Parameters
    ----------
    error : float
        The standard error of the answer, from 0.00072 (2 MiB) to 0.26 (16 bytes). With 0.01, two answers of three are
        within 1 % of the truth.
    seed : int, optional
        Of the hash, 0 to 2**64 - 1; by default 0. The hash of another library has its own.
    hash : str
        ``"latchfree"``, or ``"datasketches"`` for sketches that Apache DataSketches is to read; see `to_datasketches`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range.

    Notes
    -----
    Flajolet, Fusy, Gandouet and Meunier (2007), with a hash of 64 bits and the estimator of Ertl (2017). An answer lies
    between the answer for what was added before the call and the one for what was begun to be added before its end.

    Examples
    --------
    >>> visitors = HyperLogLog(error=0.01)
    >>> visitors.add_many([f"10.0.{k % 250}.{k % 40}" for k in range(100_000)])
    >>> round(visitors.estimate(), -1)
    1000.0
    >>> shared = HyperLogLog(error=0.01, hash="datasketches")
    >>> shared.add("10.0.0.1")
    >>> round(HyperLogLog.from_datasketches(shared.to_datasketches()).estimate())
    1
    """

    __slots__ = ()

    KIND: ClassVar[int] = HYPERLOGLOG
    CELLS: ClassVar[str] = "registers"

    def __init__(self, error: float = 0.01, *, seed: int | None = None, hash: str = "latchfree") -> None:
        number, word = hash_named(HYPERLOGLOG, hash, seed)
        self._place = Place.private(HYPERLOGLOG, _shape(error, number), word)

    @classmethod
    def create(
        cls, arena: Arena, name: str, error: float = 0.01, *, seed: int | None = None, hash: str = "latchfree"
    ) -> HyperLogLog:
        """Make an empty sketch under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the sketch is made.
        name : str
            At most 48 bytes of UTF-8.
        error, seed, hash
            As for `HyperLogLog`.

        Raises
        ------
        StructureExists, DirectoryFull, ArenaFull
            As from `Bloom.create`.
        """
        number, word = hash_named(HYPERLOGLOG, hash, seed)
        return cls._create(arena, name, _shape(error, number), word)

    def add(self, item: str | bytes | int) -> None:
        """Add an item; see `Bloom.add`."""
        place = self._place
        if place.hashing is None:
            place.call(SKETCH.hll_add, hash_of(item, place.seed))
        else:
            self._call_foreign(place.hashing, SKETCH.coupon_add_many, [item])

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock; see `Bloom.add_many`."""
        hashing = self._place.hashing
        if hashing is None:
            self._add_all(SKETCH.hll_add_many, items)
        else:
            self._call_foreign(hashing, SKETCH.coupon_add_many, items)

    def estimate(self) -> float:
        """Return about how many different items were added."""
        counts = np.zeros(256, np.int64)
        self._place.run(SKETCH.hll_count_ranks, counts)
        shape = self._place.shape
        return cardinality.estimate(counts.tolist(), shape[0], most_rank(shape))

    def merge(self, other: HyperLogLog) -> None:
        """Add all that another sketch has, made with the same arguments; see `Bloom.merge`."""
        self._merge(other, "hll_merge")

    @property
    def error(self) -> float:
        """The standard error."""
        return _ERROR / math.sqrt(1 << self._place.shape[0])

    @classmethod
    def from_bytes(cls, data: bytes) -> HyperLogLog:
        """Return a private sketch of what `to_bytes` returned; see `Sketch.from_bytes`."""
        made = super().from_bytes(data)
        highest, most = int(made._place.cells.view(np.uint8).max()), most_rank(made._place.shape)
        if highest > most:
            raise SketchInvalid(f"a damaged sketch: a register holds {highest}, the most is {most}")
        return made

    def to_datasketches(self) -> bytes:
        """Return the sketch as Apache DataSketches stores an `hll_sketch`, of the kind `HLL_8`.

        Raises
        ------
        SketchMismatch
            If the sketch was not made with ``hash="datasketches"``.
        """
        self._check_hash("datasketches")
        cells, _ = self._copied()
        return datasketches_hll.pack(cells.astype("<u8").view(np.uint8), self._place.shape[0], self.estimate())

    @classmethod
    def from_datasketches(cls, data: bytes) -> HyperLogLog:
        """Return a private sketch of the bytes of an `hll_sketch` of Apache DataSketches, of any kind.

        Spark's `hll_sketch_agg` returns such bytes. They do not say how many items were added, so `added` is 0.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a sketch.
        """
        precision, registers = datasketches_hll.unpack(bytes_of(data, "from_datasketches"))
        number, word = hash_named(HYPERLOGLOG, "datasketches", None)
        made = cls._of(Place.private(HYPERLOGLOG, (precision, number, 0, 0), word))
        made._place.cells[:] = registers.view("<u8")
        return made

    def _described(self) -> str:
        return f"of {1 << self._place.shape[0]:,} registers, standard error {100 * self.error:.2g} %"
