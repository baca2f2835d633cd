"""`RingBuffer`: a bounded queue of integers for threads and processes."""

from __future__ import annotations

import time
from functools import cache
from operator import index
from typing import Any, Final

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from latchfree.arena import Arena
from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.errors import ArenaClosed, ArenaFull
from latchfree.jit import entry, entry_point
from latchfree.kinds import Handle, Word
from latchfree.streams import ring as r
from latchfree.streams.errors import RingStalled
from latchfree.streams.positions import CELL_SHIFT

MOST_CAPACITY: Final = 1 << 25
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

_0 = np.uint64(0)
_1 = np.uint64(1)
_ALIGN = np.uint64(15)
_HEADER_WORDS = np.uint64(64)  # those of a ring, wherever in them the next 128 bytes begin

#: How often compiled code looks at a cell that it waits for before it comes back here.
_PATIENCE: Final = 1 << 10
#: Seconds between two such calls.
_NAP: Final = 5e-5

_DONE, _REFUSED, _STALLED = int(r.DONE), int(r.REFUSED), int(r.STALLED)


@entry
def _create(mem: Handle, me: Word, mask: Word, weak: Word) -> Word:
    """Offset of a new, empty ring; 0 if the arena has no room."""
    header = take(mem, me, _HEADER_WORDS, _0)
    if header == _0:
        return _0
    cells = take(mem, me, round_up((mask + _1) << CELL_SHIFT), _0)
    if cells == _0:
        give(mem, me, header, _HEADER_WORDS)
        return _0
    ring = (header + _ALIGN) & ~_ALIGN
    r.format_ring(mem, ring, cells, mask, weak, _0)
    return ring


@entry
def _put(mem: Handle, ring: Word, value: Word, patience: Word) -> Word:
    return r.try_put(mem, ring, np.uint64(value), patience)


@entry
def _get(mem: Handle, ring: Word, patience: Word) -> tuple[Word, Word]:
    outcome, value = r.try_get(mem, ring, patience)
    return outcome, np.int64(value)


@entry
def _count(mem: Handle, ring: Word) -> Word:
    return r.count(mem, ring)


@cache
def _calls() -> tuple[Any, Any, Any]:
    word = types.uint64
    return (
        entry_point(_put, word, word, types.int64, word),
        entry_point(_get, word, word, word),
        entry_point(_count, word, word),
    )


class RingBuffer:
    """A bounded first-in first-out queue of 64-bit integers, for any number of producers and consumers.

    Every operation is linearizable: it takes effect at one instant between its call and its return, and ``full`` or
    ``empty`` is said only of a queue that is. The price is that an operation may have to wait for another one that has
    claimed a cell and is not done with it. A `weak` ring never waits, but may answer that it is full while a get is
    under way in another thread, and that it is empty while a put is.

    Parameters
    ----------
    capacity : int
        How many values it holds: a power of two from 2 to 33,554,432.
    weak : bool
        Refuse where a strict ring would wait.
    arena : Arena, optional
        Where the cells live; by default a private arena. In a shared one other processes use the ring too: it is
        passed to them by pickle. Its memory stays in use as long as the arena.
    stall_timeout : float
        Seconds to wait for a cell that another thread has claimed, before `RingStalled`.

    Raises
    ------
    ValueError
        If `capacity` is no such power of two, or `stall_timeout` is negative.
    ArenaFull
        If the arena has no room.

    Notes
    -----
    The algorithm is D. Vyukov's bounded queue (2010) with the second look of crossbeam's ``ArrayQueue``; see
    `latchfree.streams.ring` and ``spec/RingStrict.tla``.

    Examples
    --------
    >>> ring = RingBuffer(4)
    >>> ring.put_many([1, 2, 3, 4, 5]), ring.try_put(6)
    (4, False)
    >>> ring.try_get(), ring.get_many(10).tolist(), ring.try_get()
    (1, [2, 3, 4], None)
    """

    __slots__ = ("__weakref__", "_arena", "_base", "_capacity", "_closed", "_ring", "_stall_timeout", "_weak")

    rank = 0

    def __init__(
        self, capacity: int, *, weak: bool = False, arena: Arena | None = None, stall_timeout: float = 10.0
    ) -> None:
        capacity = index(capacity)
        if not 2 <= capacity <= MOST_CAPACITY or capacity & (capacity - 1):
            fits = min(1 << (max(capacity, 2) - 1).bit_length(), MOST_CAPACITY)
            raise ValueError(
                f"capacity must be a power of two from 2 to {MOST_CAPACITY:,}, got {capacity:,}; use {fits:,}"
            )
        if arena is None:
            arena = Arena.anonymous((4 << 20) + 24 * capacity)
        me = np.uint64(arena.interpreter_participant())
        ring = int(_create(np.uint64(arena.base), me, np.uint64(capacity - 1), np.uint64(weak)))
        if ring == 0:
            raise ArenaFull(
                f"{arena!r} has no room for a ring of {capacity:,} cells, {16 * capacity:,} bytes; "
                "use a smaller capacity or a larger arena"
            )
        self._attach(arena, ring, stall_timeout)

    def _attach(self, arena: Arena, ring: int, stall_timeout: float) -> None:
        if not stall_timeout >= 0:
            raise ValueError(f"stall_timeout must be at least 0 seconds, got {stall_timeout}")
        self._arena, self._base, self._ring = arena, arena.base, ring
        self._stall_timeout = stall_timeout
        self._capacity = int(arena.words[ring + int(r.MASK)]) + 1
        self._weak = bool(arena.words[ring + int(r.WEAK)])
        self._closed = False
        if arena.shared:
            arena.holdings.add(self)

    @classmethod
    def _reopened(cls, arena: Arena, ring: int, stall_timeout: float) -> RingBuffer:
        made = cls.__new__(cls)
        made._attach(arena, ring, stall_timeout)
        return made

    def __reduce__(self) -> Any:
        if not self._arena.shared:
            raise TypeError(
                "a private RingBuffer cannot be pickled: its cells live in this process; "
                "make it with RingBuffer(capacity, arena=Arena.create(name=...))"
            )
        return RingBuffer._reopened, (self._arena, self._ring, self._stall_timeout)

    # one value -----------------------------------------------------------------------------------------------

    def try_put(self, value: int) -> bool:
        """Put a value at the end; False if the ring is full.

        Raises
        ------
        TypeError, ValueError
            If it is no integer, or not one of 64 bits (signed).
        RingStalled
            If another has claimed the cell for `stall_timeout`, so that nobody knows whether the ring is full.
        ArenaClosed
            After its arena was closed.
        """
        value = index(value)
        if not _LEAST <= value <= _MOST:
            raise ValueError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {value}")
        put = self._call(0)
        until = 0.0
        while (outcome := put(self._base, self._ring, value, _PATIENCE)) == _STALLED:
            until = self._nap(until, "put")
        return bool(outcome == _DONE)

    def try_get(self) -> int | None:
        """Take the oldest value; None if the ring is empty.

        Raises
        ------
        RingStalled
            If another has claimed the cell for `stall_timeout`, so that nobody knows whether the ring is empty.
        ArenaClosed
            After its arena was closed.
        """
        get = self._call(1)
        until = 0.0
        while (found := get(self._base, self._ring, _PATIENCE))[0] == _STALLED:
            until = self._nap(until, "get")
        return found[1] if found[0] == _DONE else None

    # many values ---------------------------------------------------------------------------------------------

    def put_many(self, values: ArrayLike) -> int:
        """Put values in order until the ring is full, without the interpreter lock.

        Each put is atomic, the batch is not: those of other threads may come in between.

        Parameters
        ----------
        values : array-like of integers

        Returns
        -------
        int
            How many were put. Fewer than there are: the ring was full, or the next put would have had to wait for
            longer than `stall_timeout`.

        Raises
        ------
        TypeError, ValueError
            If they are not integers of 64 bits (signed) in one dimension; none was put.
        RingStalled
            As from `try_put`; none was put.
        """
        words = _words(values)
        self._call(0)
        done, until = 0, 0.0
        base, at, patience = np.uint64(self._base), np.uint64(self._ring), np.uint64(_PATIENCE)
        while True:
            before = done
            reached, outcome = r.put_batch(base, at, words, np.uint64(done), patience)
            done = int(reached)
            if outcome != _STALLED:
                return done
            until = self._nap(until if done == before else 0.0, "put", done)
            if until < 0:
                return done

    def get_many(self, most: int) -> NDArray[np.int64]:
        """Take values in order until the ring is empty, without the interpreter lock.

        Each get is atomic, the batch is not: others may get values in between.

        Parameters
        ----------
        most : int
            How many at most.

        Returns
        -------
        ndarray of int64
            Fewer than `most`: the ring was empty, or the next get would have had to wait for longer than
            `stall_timeout`.

        Raises
        ------
        ValueError
            If `most` is negative.
        RingStalled
            As from `try_get`; none was taken.
        """
        if index(most) < 0:
            raise ValueError(f"at least 0 values can be taken, not {most}")
        self._call(1)
        values = np.empty(most, np.int64)
        done, until = 0, 0.0
        base, at, patience = np.uint64(self._base), np.uint64(self._ring), np.uint64(_PATIENCE)
        while True:
            count, outcome = r.get_batch(base, at, values[done:], patience)
            done += int(count)
            if outcome != _STALLED:
                return values[:done]
            until = self._nap(until if count == 0 else 0.0, "get", done)
            if until < 0:
                return values[:done]

    # the ring ------------------------------------------------------------------------------------------------

    @property
    def capacity(self) -> int:
        """How many values it holds."""
        return self._capacity

    @property
    def weak(self) -> bool:
        """Whether it refuses where a strict ring would wait."""
        return self._weak

    def __len__(self) -> int:
        return int(self._call(2)(self._base, self._ring))

    def __repr__(self) -> str:
        return f"<RingBuffer of {self._capacity:,} integers{', weak' if self._weak else ''}>"

    def end(self) -> None:
        """Called by the arena when it is closed."""
        self._closed = True

    def _call(self, number: int) -> Any:
        if self._closed:
            raise ArenaClosed(f"{self._arena.region.where} is closed; open it again with Arena.open")
        return _calls()[number]

    def _nap(self, until: float, what: str, done: int = 0) -> float:
        """Let others run; returns when to give up, or -1 if that is now and something is done.

        Raises
        ------
        RingStalled
            If that is now and nothing is done.
        """
        now = time.monotonic()
        if until == 0.0:
            until = now + self._stall_timeout
        elif now > until:
            if done:
                return -1.0
            raise RingStalled(self._diagnosis(what))
        time.sleep(_NAP)
        return until

    def _diagnosis(self, what: str) -> str:
        words = self._arena.words
        other, claimed = ("get", "emptied") if what == "put" else ("put", "filled")
        position = int(words[self._ring + int(r.ENQ if what == "put" else r.DEQ)])
        position -= self._capacity if what == "put" else 0
        cell = position & (self._capacity - 1)
        return (
            f"cell {cell} of {self._capacity:,} has been claimed by a {other} at position {position:,} for "
            f"{self._stall_timeout:g} s and not been {claimed}: its thread is stopped or dead. "
            "If it is dead, the cell is lost: use another ring"
        )


def _words(values: ArrayLike) -> NDArray[np.int64]:
    """Values as an array of signed words."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"put_many takes values in one dimension, got {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {array.dtype}")
    if array.dtype == np.uint64 and int(array.max()) > _MOST:
        raise ValueError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {int(array.max())}")
    return np.ascontiguousarray(array, dtype=np.int64)
