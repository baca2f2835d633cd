"""`RingBuffer`: a bounded queue of integers for threads and processes.

Example: a ring of 4 cells takes four puts; the fifth returns False until a get has emptied a cell.

This file is the Python face: it checks arguments, waits with patience for a cell that another thread has claimed, and
says what is wrong if the wait is too long. The algorithm is in `latchfree.streams.kernels.ring`.
"""

from __future__ import annotations

import time
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchfree.arena import Arena
from latchfree.arena.patience import Patience
from latchfree.errors import ArenaClosed, ArenaFull
from latchfree.streams.errors import RingStalled
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.entry_points import calls, create

MOST_CAPACITY: Final = 1 << 25
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

#: How often compiled code looks at a claimed cell before it comes back here.
_LOOKS: Final = 1 << 10
#: Seconds between two such calls.
_NAP: Final = 5e-5

_DONE, _REFUSED, _STALLED = int(r.DONE), int(r.REFUSED), int(r.STALLED)


class RingBuffer:
    """A bounded first-in first-out queue of 64-bit integers, for any number of producers and consumers.

    Every operation is linearizable: an operation takes effect at one instant between its call and its return, and a
    refusal means that the ring was full, or empty, at that instant. The price is that an operation may have to wait for
    another one that has claimed a cell and is not done with the cell. A `weak` ring never waits, but may refuse a put
    as full while a get is under way in another thread, and a get as empty while a put is.

    Parameters
    ----------
    capacity : int
        How many values the ring holds: a power of two from 2 to 33,554,432.
    weak : bool
        Refuse where a strict ring would wait.
    arena : Arena, optional
        Where the cells live; by default a private arena. In a shared arena other processes use the ring too: pickle
        passes the ring to them. The memory of the ring stays in use as long as the arena.
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
    `latchfree.streams.kernels.ring` and ``spec/RingStrict.tla``.

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
        self._attach(arena, _new_ring(arena, capacity, weak), stall_timeout)

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
            If `value` is no integer, or has more than 64 bits (signed).
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is full.
        ArenaClosed
            After its arena was closed.
        """
        value = index(value)
        if not _LEAST <= value <= _MOST:
            raise ValueError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {value}")
        put = self._call(0)
        until = 0.0
        while (outcome := put(self._base, self._ring, value, _LOOKS)) == _STALLED:
            until = self._nap(until, "put")
        return bool(outcome == _DONE)

    def try_get(self) -> int | None:
        """Take the oldest value; None if the ring is empty.

        Raises
        ------
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is empty.
        ArenaClosed
            After its arena was closed.
        """
        get = self._call(1)
        until = 0.0
        while (found := get(self._base, self._ring, _LOOKS))[0] == _STALLED:
            until = self._nap(until, "get")
        return found[1] if found[0] == _DONE else None

    # many values ---------------------------------------------------------------------------------------------

    def put_many(self, values: ArrayLike) -> int:
        """Put values in order until the ring is full, without the interpreter lock.

        Each put is atomic, the batch is not: puts of other threads may come in between.

        Parameters
        ----------
        values : array-like of integers

        Returns
        -------
        int
            How many values were put. Fewer than given: the ring was full, or the next put would have had to wait
            for longer than `stall_timeout`.

        Raises
        ------
        TypeError, ValueError
            If the values are not integers of 64 bits (signed) in one dimension; none was put.
        RingStalled
            As from `try_put`; none was put.
        """
        words = _words(values)
        self._call(0)
        done, until = 0, 0.0
        base, at, patience = np.uint64(self._base), np.uint64(self._ring), np.uint64(_LOOKS)
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
        base, at, patience = np.uint64(self._base), np.uint64(self._ring), np.uint64(_LOOKS)
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
        """The number of values that the ring holds at most."""
        return self._capacity

    @property
    def weak(self) -> bool:
        """Whether the ring refuses where a strict ring would wait."""
        return self._weak

    def __len__(self) -> int:
        return int(self._call(2)(self._base, self._ring))

    def __repr__(self) -> str:
        return f"<RingBuffer of {self._capacity:,} integers{', weak' if self._weak else ''}>"

    def end(self) -> None:
        """Refuse all calls from now on; the arena calls this when it is closed."""
        self._closed = True

    def _call(self, number: int) -> Any:
        if self._closed:
            raise ArenaClosed(f"{self._arena.region.where} is closed; open it again with Arena.open")
        return calls()[number]

    def _nap(self, until: float, what: str, done: int = 0) -> float:
        """Let others run; return when to give up, or -1 if the time has come and something is done.

        Raises
        ------
        RingStalled
            If the time has come and nothing is done.
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


def _new_ring(arena: Arena, capacity: int, weak: bool) -> int:
    """Return the offset of a new ring."""
    me = np.uint64(arena.interpreter_participant())
    patience = Patience(arena)
    while not (ring := int(create(np.uint64(arena.base), me, np.uint64(capacity - 1), np.uint64(weak)))):
        if not patience.make_room():
            raise ArenaFull(
                f"{arena!r} has no room for a ring of {capacity:,} cells, {16 * capacity:,} bytes; "
                "use a smaller capacity or a larger arena"
            )
    return ring


def _words(values: ArrayLike) -> NDArray[np.int64]:
    """Return values as an array of signed words."""
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
