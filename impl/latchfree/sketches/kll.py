"""`KLL`: which item is in the middle, or above 99 % of all? Nearly this one."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.arguments import fraction, many, whole
from latchfree.sketches import datasketches
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffer import NumberBuffer
from latchfree.sketches.common import levels, stored
from latchfree.sketches.common.errors import SketchInvalid, SketchMismatch
from latchfree.sketches.common.items import CHUNK, seed_of
from latchfree.sketches.common.numbers import number_of, numbers_in, numbers_of, word_of, words_of
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import LEAST_ROOM, MOST_LANES, MOST_ROOM, Shape
from latchfree.sketches.kernels import lanes as w
from latchfree.sketches.sketch import Sketch
from latchfree.structures import KLL as KIND

#: The standard error of a rank is at most this over the room of the highest level; see `KLL`.
_ERROR: Final = math.sqrt(3)
#: More items than that have no exact count.
MOST_ITEMS: Final = 1 << 53
#: Seconds between two looks for a lane that is free, at first and at most; and until the dead are looked for.
_NAP: Final = 20e-6
_LONG_NAP: Final = 2e-3
_PATIENCE: Final = 0.05


def _shape(error: Any, writers: Any) -> Shape:
    wanted = fraction(error, "error", _ERROR / MOST_ROOM, _ERROR / LEAST_ROOM)
    return math.ceil(_ERROR / wanted - 1e-9), whole(writers, "writers", 1, MOST_LANES), 0, 0


def _seed(seed: Any) -> int:
    return int.from_bytes(os.urandom(8), "little") if seed is None else seed_of(seed)


class KLL(Sketch):
    """Ranks and quantiles of numbers, in a few kilobytes.

    Parameters
    ----------
    error : float
        The standard error of a rank, as a part of the number of items, at most: from 0.000027 to 0.21. With 0.01, the
        median of a million is, two times of three, an item between the 490,000th and the 510,000th.
    writers : int
        How many threads can add at the same time, from 1 to 64; more wait for each other.
    seed : int, optional
        Of the coins that say which items are kept, 0 to 2**64 - 1; by default a random one.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the sketch would be larger than 512 MiB.

    Notes
    -----
    Karnin, Lang and Liberty (2016). The bound of the error: a compaction of level h moves a rank by 2**h, up or down by
    a coin, or not at all; the variances of all compactions add up to at most 3 (items / room)**2.

    Each writer has a lane of its own during a call, so adds wait only if all lanes are held, and answers are made of
    all lanes. Answers wait for nobody. A writer that is killed leaves its lane as it was after the last item that it
    has counted; see `latchfree.sketches.kernels.lanes`.

    Examples
    --------
    >>> sizes = KLL(error=0.01)
    >>> sizes.add_many(range(101))
    >>> sizes.quantile(0.5), sizes.rank(24), sizes.least, sizes.greatest
    (50.0, 0.24752475247524752, 0.0, 100.0)
    """

    __slots__ = ()

    KIND: ClassVar[int] = KIND
    CELLS: ClassVar[str] = "items"

    def __init__(self, error: float = 0.01, *, writers: int = 4, seed: int | None = None) -> None:
        self._place = Place.private(KIND, _shape(error, writers), _seed(seed))

    @classmethod
    def create(cls, arena: Arena, name: str, error: float = 0.01, *, writers: int = 4, seed: int | None = None) -> KLL:
        """Make an empty sketch under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(error, writers), _seed(seed))

    # adding -----------------------------------------------------------------------------------------------------

    def add(self, item: float) -> None:
        """Add an item.

        Parameters
        ----------
        item : float or int
            Not NaN; an integer from -2**53 to 2**53.

        Raises
        ------
        TypeError, ValueError
            If it is of another kind or out of range.
        ArenaClosed, SketchGone
            After its arena was closed, or the sketch was unlinked.
        """
        self._in_a_lane(self._place.call, SKETCH.kll_add, word_of(number_of(item)))

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            Floats and integers, as `add` takes.
        """
        words = words_of(numbers_in(items))
        for first in range(0, len(words), CHUNK):
            self._in_a_lane(self._place.run, SKETCH.kll_add_many, words[first : first + CHUNK])

    def buffered(self, most: int = 256) -> NumberBuffer:
        """Return a buffer for the adds of this thread; see `latchfree.sketches.buffered.Buffered.buffered`."""
        return NumberBuffer(self, self.add_many, most)

    def _in_a_lane(self, how: Any, call: Any, *arguments: Any) -> None:
        """Make a call that needs a lane; wait while others hold all of them."""
        arena, nap, since = self._place.arena, _NAP, 0.0
        while not how(call, os.getpid() if arena is None else _ME, *arguments):
            since += nap
            time.sleep(nap)
            nap = min(2 * nap, _LONG_NAP)
            if arena is not None and since > _PATIENCE:
                arena.reap()  # so that a lane of somebody who was killed is found to be free
                since = 0.0

    def merge(self, other: KLL) -> None:
        """Add all that another sketch has, made with the same `error`; see `Bloom.merge`.

        Raises
        ------
        TypeError, SketchMismatch
            If it is something else, or was made with another error.
        ValueError
            If there would be more than 2**53 items.
        """
        self._check_like(other)
        theirs = other._lanes()
        total = sum(lane.total for lane in theirs)
        if self.count + total > MOST_ITEMS:
            raise ValueError(f"there would be more than {MOST_ITEMS:,} items; begin another sketch")
        for lane in theirs:
            self._absorb(lane)
        self._place.run(SKETCH.kll_count, total)

    def _absorb(self, lane: levels.Lane) -> None:
        """Add what a lane has, but for the number of items added."""
        room, run = self._place.shape[0], self._place.run
        bounds = np.array([lane.least, lane.greatest], np.uint64)
        for level in range(len(lane.levels) - 1, -1, -1):
            items = np.ascontiguousarray(lane.levels[level])
            for first in range(0, len(items), room):
                self._in_a_lane(run, SKETCH.kll_absorb, level, bounds, items[first : first + room])

    def _check_like(self, other: Any) -> None:
        if type(other) is not type(self):
            raise TypeError(f"a {type(self).__name__} is merged with another one, not with a {type(other).__name__}")
        if self._place.shape[0] != other._place.shape[0]:
            raise SketchMismatch(
                f"these sketches have different shapes: {self._described()}, and {other._described()}; "
                "make both with the same error"
            )

    # asking -----------------------------------------------------------------------------------------------------

    def _read(self) -> NDArray[np.uint64]:
        room, lanes = self._place.shape[:2]
        out: NDArray[np.uint64] = np.zeros(lanes * levels.words_read(room), np.uint64)
        self._place.run(SKETCH.kll_read, out)
        return out

    def _lanes(self) -> list[levels.Lane]:
        """Return what the lanes have, but for empty ones."""
        found = levels.lanes_of(self._read(), self._place.shape[0])
        return [lane for lane in found if any(map(len, lane.levels))]

    def _some_lanes(self) -> list[levels.Lane]:
        found = self._lanes()
        if not found:
            raise ValueError("the sketch is empty: no item has a rank")
        return found

    def quantiles(self, ranks: Any) -> list[float]:
        """Return for each rank the least item of which at least that part of all items is no greater.

        Parameters
        ----------
        ranks : sequence of float
            From 0 to 1; 0 asks for the least item, 1 for the greatest, and both are exact.

        Raises
        ------
        ValueError
            If the sketch is empty, or a rank is out of range.
        """
        wanted = [fraction(rank, "rank", 0.0, 1.0) for rank in many(ranks, "ranks", "quantile")]
        lanes = self._some_lanes()
        items, counts = levels.in_order(lanes)
        at = np.searchsorted(counts, np.array(wanted) * int(counts[-1]), side="left")
        found = numbers_of(items)[np.minimum(at, len(items) - 1)].tolist()
        least, greatest = _bounds(lanes)
        return [{0.0: least, 1.0: greatest}.get(rank, item) for rank, item in zip(wanted, found, strict=True)]

    def quantile(self, rank: float) -> float:
        """Return the least item of which at least that part of all items is no greater; see `quantiles`."""
        return self.quantiles([rank])[0]

    def ranks(self, items: Any) -> list[float]:
        """Return for each of some numbers which part of the items is no greater, from 0 to 1.

        Raises
        ------
        TypeError, ValueError
            If the sketch is empty, or one of them is no number as `add` takes.
        """
        wanted = words_of(numbers_in(items))
        held, counts = levels.in_order(self._some_lanes())
        below = np.concatenate([[0], counts])[np.searchsorted(held, wanted, side="right")]
        found: list[float] = (below / int(counts[-1])).tolist()
        return found

    def rank(self, item: float) -> float:
        """Return which part of the items is no greater than a number, from 0 to 1."""
        return self.ranks([item])[0]

    @property
    def count(self) -> int:
        """How many items there are, with those of calls under way as far as they have come."""
        return sum(lane.total for lane in self._lanes())

    @property
    def least(self) -> float:
        """The least item. A ValueError if there is none."""
        return _bounds(self._some_lanes())[0]

    @property
    def greatest(self) -> float:
        """The greatest item. A ValueError if there is none."""
        return _bounds(self._some_lanes())[1]

    @property
    def error(self) -> float:
        """The standard error of a rank, at most, as a part of the number of items."""
        return _ERROR / self._place.shape[0]

    @property
    def writers(self) -> int:
        """How many threads can add at the same time."""
        return self._place.shape[1]

    # bytes ------------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes: all that was added before the call, and maybe some of what is added meanwhile.

        What is in several lanes is merged. `writers` is not stored: a sketch of bytes has 4.
        """
        room, added = self._place.shape[0], self.added
        held = [words for words in _parts(self._read(), room) if any(map(len, levels.lane_of(words, room).levels))]
        if len(held) != 1:
            one = KLL._of(Place.private(KIND, (room, 1, 0, 0), self.seed))
            for words in held:
                one._absorb(levels.lane_of(words, room))
            held = [one._read()]
        return stored.pack(KIND, (room, 4, 0, 0), self.seed, added, levels.packed(held[0], room))

    @classmethod
    def from_bytes(cls, data: bytes) -> KLL:
        """Return a private sketch of what `to_bytes` returned; see `Sketch.from_bytes`."""
        shape, seed, added, cells = stored.unpack(cls.KIND, data, sized=False)
        try:
            words = levels.unpacked(cells, shape[0])
        except ValueError as error:
            raise SketchInvalid(f"a damaged sketch: {error}") from None
        place = Place.private(cls.KIND, shape, seed)
        place.cells[int(w.STATE)] = words[0]
        place.cells[int(w.LANE_HEAD) : int(w.LANE_HEAD) + len(words) - 1] = words[1:]
        place.set_added(added)
        return cls._of(place)

    def to_datasketches(self) -> bytes:
        """Return the sketch as Apache DataSketches stores a `kll_doubles_sketch`."""
        return datasketches.pack(self._lanes(), self._place.shape[0], self.seed)

    @classmethod
    def from_datasketches(cls, data: bytes, *, seed: int | None = None) -> KLL:
        """Return a private sketch of the bytes of a `kll_doubles_sketch` of Apache DataSketches.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a sketch.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes of a kll_doubles_sketch, got {type(data).__name__}")
        room, lane = datasketches.unpack(bytes(data))
        made = cls._of(Place.private(KIND, (room, 4, 0, 0), _seed(seed)))
        if lane is not None:
            made._absorb(lane)
            made._place.set_added(lane.total)
        return made

    def _described(self) -> str:
        room, lanes = self._place.shape[:2]
        return f"of {lanes} lanes of {room:,} items a level, standard error {100 * self.error:.2g} % of rank"


#: In place of a process id: in an arena it is the participant who holds a lane.
_ME: Final = 0


def _parts(words: NDArray[np.uint64], room: int) -> Iterator[NDArray[np.uint64]]:
    size = levels.words_read(room)
    for at in range(0, len(words), size):
        yield words[at : at + size]


def _bounds(lanes: list[levels.Lane]) -> tuple[float, float]:
    found = [min(lane.least for lane in lanes), max(lane.greatest for lane in lanes)]
    least, greatest = numbers_of(np.array(found, np.uint64)).tolist()
    return least, greatest
