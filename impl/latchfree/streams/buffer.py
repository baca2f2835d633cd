"""`RingBuffer`: a bounded queue of integers for threads and processes.

Example: a ring of 4 cells takes four puts; the fifth returns False until a get has emptied a cell.

This file is the Python face: it checks arguments, waits with patience for a cell that another thread has claimed, and
says what is wrong if the wait is too long. The algorithm is in `latchfree.streams.kernels.ring`, and
`latchfree.streams.ownership` says whose the memory is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Real
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchfree.arena import Arena
from latchfree.errors import ArenaClosed, ArenaInvalid, LatchfreeError
from latchfree.streams.border import RING
from latchfree.streams.errors import RingGone, RingStalled
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.entry_points import MISSING, NO_COUNT
from latchfree.streams.ownership import Nobody, Owner, owner_of, watch

MOST_CAPACITY: Final = 1 << 25
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

#: How often compiled code looks at a claimed cell before it comes back here.
_LOOKS: Final = 1 << 10
#: Seconds between two such calls.
_NAP: Final = 5e-5


_DONE, _STALLED, _MISSING, _NO_COUNT = int(r.DONE), int(r.STALLED), int(MISSING), int(NO_COUNT)


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
        passes the ring to them. The ring belongs to the opening of the arena that made it, and its memory comes back
        when the last reference there is dropped or closed, when the arena is closed there, or when the process is
        killed; from then on calls elsewhere raise `RingGone`.
    stall_timeout : float
        Seconds to wait for a cell that another thread has claimed, before `RingStalled`; ``inf`` waits for ever.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If `capacity` is no such power of two, or `stall_timeout` is negative or not a number.
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

    __slots__ = (
        "__weakref__",
        "_arena",
        "_base",
        "_capacity",
        "_closed",
        "_number",
        "_owner",
        "_place",
        "_ring",
        "_seconds",
        "_weak",
    )

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
        if not (arena is None or isinstance(arena, Arena)):
            raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
        self._seconds, weak = _timeout(stall_timeout), bool(weak)
        if arena is None:
            arena = Arena.anonymous((4 << 20) + 24 * capacity)
        self._attach(arena, Owner(arena, capacity, weak))

    def _attach(self, arena: Arena, owner: Owner | Nobody, ring: int = 0, number: int = 0) -> None:
        self._arena, self._base, self._owner = arena, arena.base, owner
        self._ring, self._number = (owner.ring, owner.number) if isinstance(owner, Owner) else (ring, number)
        self._place = self._base, self._ring, self._number
        with arena.call():
            self._capacity = int(arena.words[self._ring + int(r.MASK)]) + 1
            self._weak = bool(arena.words[self._ring + int(r.WEAK)])
        self._closed = False
        if arena.shared:
            arena.holdings.add(self)

    @classmethod
    def _reopened(cls, arena: Arena, identity: int, ring: int, number: int, stall_timeout: float) -> RingBuffer:
        if arena.number != identity:
            raise ArenaInvalid(
                f"{arena.region.where}: not the arena that this ring is in: another one has taken its place"
            )
        made = cls.__new__(cls)
        made._seconds = stall_timeout
        made._attach(arena, owner_of(arena, number), ring, number)
        len(made)  # asks whether there still is such a ring, and so what was read is true
        watch(arena)
        return made

    def __reduce__(self) -> Any:
        arena = self._arena
        if not arena.shared:
            raise TypeError(
                "a private RingBuffer cannot be pickled: its cells live in this process; "
                "make it with RingBuffer(capacity, arena=Arena.create(name=...))"
            )
        if self._closed:
            raise self._missing()
        return RingBuffer._reopened, (arena, arena.number, self._ring, self._number, self._seconds)

    # one value -----------------------------------------------------------------------------------------------

    def try_put(self, value: int) -> bool:
        """Put a value at the end; False if the ring is full.

        Raises
        ------
        TypeError, ValueError
            If `value` is no integer, or has more than 64 bits (signed).
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is full.
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        value = index(value)
        if not _LEAST <= value <= _MOST:
            raise ValueError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {value:#x}")
        put, until = RING.put, 0.0
        while True:
            me = 0 if self._owner.mine else self._enter()
            outcome = put(self._base, me, self._ring, self._number, value, _LOOKS)
            if outcome != _STALLED:
                break
            until = self._nap(until, "put")
        if outcome == _MISSING:
            raise self._missing()
        return bool(outcome == _DONE)

    def try_get(self) -> int | None:
        """Take the oldest value; None if the ring is empty.

        Raises
        ------
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is empty.
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        get, until = RING.get, 0.0
        while True:
            me = 0 if self._owner.mine else self._enter()
            outcome, value = get(self._base, me, self._ring, self._number, _LOOKS)
            if outcome != _STALLED:
                break
            until = self._nap(until, "get")
        if outcome == _MISSING:
            raise self._missing()
        return value if outcome == _DONE else None

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
        RingStalled, ArenaClosed, RingGone
            As from `try_put`; none was put.
        """
        return self._run_batch("put", RING.put_many, _words(values))

    def get_many(self, most: int) -> NDArray[np.int64]:
        """Take values in order until the ring is empty, without the interpreter lock.

        Each get is atomic, the batch is not: others may get values in between.

        Parameters
        ----------
        most : int
            How many at most; one call takes no more than `capacity`.

        Returns
        -------
        ndarray of int64
            Fewer than that: the ring was empty, or the next get would have had to wait for longer than
            `stall_timeout`.

        Raises
        ------
        ValueError
            If `most` is negative.
        RingStalled, ArenaClosed, RingGone
            As from `try_get`; none was taken.
        """
        most = index(most)
        if most < 0:
            raise ValueError(f"at least 0 values can be taken, not {most:#x}")
        values = np.empty(min(most, self._capacity), np.int64)
        return values[: self._run_batch("get", RING.get_many, values)]

    def _run_batch(self, what: str, batch: Callable[..., Any], values: NDArray[np.int64]) -> int:
        """Put or get values until the ring refuses; return how many."""
        done, until = 0, 0.0
        while True:
            base, ring, number = self._place
            owner = self._owner  # kept until the call is over, and with it the ring
            try:
                if self._closed:
                    raise self._missing()
                first = done
                if not self._arena.shared:  # nobody can close it
                    reached, outcome = batch(base, 0, ring, number, first, _LOOKS, values)
                else:
                    with self._arena.call() if owner.mine else self._arena.lend() as lent:
                        if not lent and not owner.mine:  # a signal handler has forked: the ring is the parent's
                            continue
                        reached, outcome = batch(base, lent, ring, number, first, _LOOKS, values)
                if outcome == _MISSING:
                    raise self._missing()
            except LatchfreeError:
                if done:
                    return done
                raise
            if outcome != _STALLED:
                return int(reached)
            until = self._nap(until if reached == done else 0.0, what, reached)
            done = int(reached)
            if until < 0:
                return done

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
        found = RING.count(self._base, 0 if self._owner.mine else self._enter(), self._ring, self._number)
        if found == _NO_COUNT:
            raise self._missing()
        return int(found)

    def __repr__(self) -> str:
        return f"<RingBuffer of {self._capacity:,} integers{', weak' if self._weak else ''}>"

    def close(self) -> None:
        """Stop using the ring here; its memory comes back with the last reference in the opening that made it."""
        self._closed = True
        self._owner = Nobody()

    def __enter__(self) -> RingBuffer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def end(self) -> None:
        """Refuse all calls from now on; the arena calls this when it is closed."""
        self._closed = True

    def _enter(self) -> int:
        """Return the participant to pin during a call of a ring that is not our own, with the interpreter lock."""
        if self._closed:
            raise self._missing()
        return self._arena.interpreter_participant()

    def _missing(self) -> LatchfreeError:
        """Return the error of a call of a ring that is not there any more."""
        where = self._arena.region.where
        if self._arena.closing:
            return ArenaClosed(f"{where} is closed; open it again with Arena.open")
        if self._closed:
            return RingGone(f"this ring in {where} was closed here; use another one")
        return RingGone(
            f"this ring in {where} is gone: the opening of the arena that made it has dropped it, was closed, or was "
            "killed; keep the ring there for as long as others use it"
        )

    def _nap(self, until: float, what: str, done: int = 0) -> float:
        """Let others run; return when to give up, or -1 if the time has come and something is done.

        Raises
        ------
        RingStalled
            If the time has come and nothing is done.
        """
        now = time.monotonic()
        if until == 0.0:
            until = now + self._seconds
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
            f"{self._seconds:g} s and not been {claimed}: its thread is stopped or dead. "
            "If it is dead, the cell is lost: use another ring"
        )


def _timeout(stall_timeout: Any) -> float:
    """Return a timeout, checked."""
    if not isinstance(stall_timeout, Real):
        raise TypeError(f"stall_timeout must be a number of seconds, not {type(stall_timeout).__name__}")
    seconds: Any = stall_timeout
    if not seconds >= 0:
        raise ValueError(f"stall_timeout must be at least 0 seconds, got {seconds}")
    try:
        return float(seconds)
    except OverflowError:
        return float("inf")


def _words(values: ArrayLike) -> NDArray[np.int64]:
    """Return values as an array of signed words."""
    if np.ma.is_masked(values):
        raise ValueError("put_many takes integers, and some of these are masked; leave them out, or fill them")
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"put_many takes values in one dimension, got {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {array.dtype}")
    if array.dtype == np.uint64 and int(array.max()) > _MOST:
        raise ValueError(f"a ring buffer holds integers from -2**63 to 2**63 - 1, not {int(array.max())}")
    return np.require(array, np.int64, ["C", "ALIGNED"])
