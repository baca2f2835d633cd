"""`TopK`: which items were added most often? These, and so often."""

from __future__ import annotations

import ctypes
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.arguments import fraction, whole
from latchfree.ctrie.columns import Column
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.items import (
    CHUNK,
    check_size,
    chunks,
    column_of,
    hash_of,
    is_text,
    kept,
    one_item,
    seed_of,
)
from latchfree.sketches.common.place import Place
from latchfree.sketches.common.shapes import MOST_CELLS, Shape, counters_of
from latchfree.sketches.common.stored import bytes_of
from latchfree.sketches.counted import MOST_COUNT, CountBuffer, Counted, OneCountBuffer, WithCounts, are_enough
from latchfree.sketches.foreign.datasketches_items import unpack
from latchfree.sketches.kernels import top as t
from latchfree.sketches.kernels.rows import MOST_DEPTH
from latchfree.structures import TOP_K

_SLOT = int(t.SLOT_WORDS)
_INTEGER, _TEXT, _BYTES = int(t.INTEGER), int(t.TEXT), int(t.BYTES)
#: Slots for each item that is asked for: a bucket of four is full only where four heavier items meet.
_ROOM = 8


def _shape(items: Any, error: Any, confidence: Any) -> Shape:
    asked = whole(items, "items", 1, 1 << 16)
    width = math.ceil(math.e / fraction(error, "error", math.e / MOST_CELLS, 1.0))
    depth = math.ceil(-math.log(1 - fraction(confidence, "confidence", 0.5, 1 - 1e-6)) - 1e-9)
    return width, min(depth, MOST_DEPTH), -(-_ROOM * asked // int(t.SLOTS)), asked


class TopK(Counted):
    """The most frequent items, with their counts, in a size that does not grow.

    Parameters
    ----------
    items : int
        How many are asked for: from 1 to 65,536.
    error : float
        How much too high a count may be, as a part of all counts added: from 4e-8 to 1.
    confidence : float
        In which part of cases it is not higher than that: from 0.5 to 0.999999.
    seed : int
        Of the hash, 0 to 2**64 - 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind or out of range, or the sketch would be larger than 512 MiB.

    Notes
    -----
    A Count-Min sketch says how often (never too low), a table of candidates says who. An item is remembered whole, so
    it has at most 96 bytes. A frequent item is missing only if four items that look more frequent share its bucket, or
    if the process that was to write it down was killed: then the item comes back with its next add. See
    `latchfree.sketches.kernels.top`.

    Examples
    --------
    >>> words = TopK(2)
    >>> words.add_many(["tea", "oat", "tea", "rye", "tea", "oat"])
    >>> words.top()
    [('tea', 3), ('oat', 2)]
    """

    __slots__ = ()

    KIND: ClassVar[int] = TOP_K
    CELLS: ClassVar[str] = "counters"
    MOST_BYTES: ClassVar[int] = t.MOST_BYTES
    BUFFER: ClassVar[type[CountBuffer]] = OneCountBuffer

    def __init__(self, items: int = 10, error: float = 0.001, confidence: float = 0.99, *, seed: int = 0) -> None:
        self._place = Place.private(TOP_K, _shape(items, error, confidence), seed_of(seed))

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        items: int = 10,
        error: float = 0.001,
        confidence: float = 0.99,
        *,
        seed: int = 0,
    ) -> TopK:
        """Make an empty sketch under a name in an arena; see `Bloom.create`."""
        return cls._create(arena, name, _shape(items, error, confidence), seed_of(seed))

    def add(self, item: str | bytes | int, count: int = 1) -> None:
        """Add to the count of an item.

        Parameters
        ----------
        item : str, bytes or int
            A string or bytes of at most 96 bytes.
        count : int
            From 1 to 4,294,967,295.

        Raises
        ------
        TypeError, ValueError
            If an argument is of another kind or out of range.
        ArenaClosed, SketchGone
            After its arena was closed, or the sketch was unlinked.
        """
        more, h = whole(count, "count", 1, MOST_COUNT), hash_of(item, self._place.seed)
        found = one_item(item)
        check_size(len(found) if isinstance(found, bytes) else 0, self.MOST_BYTES)
        if self._place.call(SKETCH.top_add, h, more):
            self._write(h, found, isinstance(item, str))

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock; see `Bloom.add_many`.

        Parameters
        ----------
        items : Arrow array, NumPy array or sequence
            Strings and bytes of at most 96 bytes each.
        """
        items = kept(items)
        column, place, text = column_of(items), self._place, is_text(items)
        if isinstance(column.data, tuple) and column.length:
            check_size(int(np.diff(column.data[1]).max()), self.MOST_BYTES)
        own, wanted = self._own_counters(column.length), np.empty(min(CHUNK, column.length), np.uint8)
        for first, hashes in chunks(column, place.seed):
            flags = wanted[: len(hashes)]
            if are_enough(hashes, own):
                place.run(SKETCH.top_add_slice, hashes, own, flags)
            else:
                place.run(SKETCH.top_add_many, hashes, flags)
            if flags.any():
                self._write_many(column, first, hashes, flags, text)

    def _add_counted(self, waiting: WithCounts) -> None:
        column, h = column_of(waiting.items), np.zeros(1, np.uint64)
        for _, hashes in chunks(column, self._place.seed):
            h = hashes
        if self._place.call(SKETCH.top_add, int(h[0]), int(waiting.counts[0])):
            self._write(int(h[0]), _item_at(column, 0), is_text(waiting.items))

    def _write(self, h: int, item: bytes | int, text: bool) -> None:
        """Write an item into the table, if it still belongs there."""
        words: NDArray[np.uint64] = np.zeros(_SLOT - _BYTES, np.uint64)
        if isinstance(item, int):
            words[0], length = item & (1 << 64) - 1, _INTEGER
        else:
            words.view(np.uint8)[: len(item)] = np.frombuffer(item, np.uint8)
            length = len(item) + (_TEXT if text else 0)
        self._place.call(SKETCH.top_put, h, length, words)

    def _write_many(
        self, column: Column, first: int, hashes: NDArray[np.uint64], flags: NDArray[np.uint8], text: bool
    ) -> None:
        """Write those items of a column that are wanted into the table, if they still belong there."""
        room: NDArray[np.uint64] = np.empty(_SLOT - _BYTES, np.uint64)
        if isinstance(column.data, tuple):
            address, ends = column.data
            ends, mark = ends[first : first + len(hashes) + 1], _TEXT if text else 0
            self._place.run(SKETCH.top_put_blobs, hashes, flags, address, ends, mark, room)
        else:
            self._place.run(SKETCH.top_put_ints, hashes, flags, column.data[first : first + len(hashes)], room)

    def top(self, items: int | None = None) -> list[tuple[str | bytes | int, int]]:
        """Return the most frequent items and their counts, the most frequent first.

        Parameters
        ----------
        items : int, optional
            How many at most; by default those that the sketch was made for.
        """
        most = self.items if items is None else whole(items, "items", 1, self.items)
        found = [(_shown(slot), int(slot[int(t.COUNT)])) for slot in self._slots()]
        # One item may be in two slots for a moment, if two have written it at the same time.
        return sorted(dict(found).items(), key=lambda each: (-each[1], str(each[0])))[:most]

    def _slots(self) -> NDArray[np.uint64]:
        buckets = self._place.shape[2]
        out: NDArray[np.uint64] = np.zeros(buckets * int(t.SLOTS) * _SLOT, np.uint64)
        return out[: int(self._place.run(SKETCH.top_read, out))].reshape(-1, _SLOT)

    def estimate(self, item: str | bytes | int) -> int:
        """Return a count that is at least the item's, whether it is among the most frequent or not."""
        return int(self._place.call(SKETCH.count_estimate, hash_of(item, self._place.seed)))

    def merge(self, other: TopK) -> None:
        """Add the counts of another sketch, made with the same arguments; see `Bloom.merge`."""
        self._check_like(other)
        slots = other._slots()
        self._merge(other, "top_merge")
        for slot in slots:
            words = np.ascontiguousarray(slot[_BYTES:])
            self._place.call(SKETCH.top_put, int(slot[int(t.HASH)]), int(slot[int(t.LENGTH)]), words)

    @classmethod
    def from_datasketches(
        cls, data: bytes, items: int = 10, error: float = 0.001, confidence: float = 0.99, *, seed: int = 0
    ) -> TopK:
        """Return a private sketch of the bytes of a `frequent_strings_sketch` of Apache DataSketches.

        Its counts are the upper bounds of the other sketch, so they are never too low, also for strings that it has
        thrown out: each is too high by its `offset` at most, and by `error` as always.

        Parameters
        ----------
        data : bytes
            What `serialize` returned.
        items, error, confidence, seed
            As for `TopK`.

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes, or another argument is of another kind or out of range.
        SketchInvalid
            If the bytes are not those of such a sketch, or have a string of more than 96 bytes.
        """
        made, found = cls(items, error, confidence, seed=seed), unpack(bytes_of(data, "from_datasketches"))
        place = made._place
        place.cells[: counters_of(TOP_K, place.shape)] = found.offset
        for text, count in found.counts.items():
            h, encoded = hash_of(text, seed), text.encode()
            if len(encoded) > cls.MOST_BYTES:
                raise SketchInvalid(
                    f"a string of {len(encoded):,} bytes; leave it out: a TopK remembers items of at most "
                    f"{cls.MOST_BYTES}"
                )
            if place.call(SKETCH.top_add, h, count):
                made._write(h, encoded, text=True)
        place.set_added(found.total)
        return made

    @property
    def items(self) -> int:
        """How many items are asked for."""
        return self._place.shape[3]

    @property
    def error(self) -> float:
        """How much too high a count may be, as a part of `added`."""
        return math.e / self._place.shape[0]

    def _described(self) -> str:
        return f"of {self.items:,} items, {self._place.shape[1]} rows of {self._place.shape[0]:,} counters"


def _item_at(column: Column, k: int) -> bytes | int:
    """Return an item of a column."""
    if not isinstance(column.data, tuple):
        return int(column.data[k])
    address, ends = column.data
    return ctypes.string_at(address + int(ends[k]), int(ends[k + 1] - ends[k]))


def _shown(slot: NDArray[np.uint64]) -> str | bytes | int:
    """Return the item that a sealed slot holds."""
    length = int(slot[int(t.LENGTH)])
    if length == _INTEGER:
        return int(slot[_BYTES].astype(np.int64))
    data = slot[_BYTES:].tobytes()[: min(length & ~_TEXT, t.MOST_BYTES)]
    return data.decode("utf-8", "replace") if length & _TEXT else data
