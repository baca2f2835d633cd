"""`RingBuffer`: a bounded queue of integers for threads and processes.

Example: a ring of 4 cells takes four puts; the fifth returns False until a get has emptied a cell.

This file has the calls for one value that do not wait for others to put or get, and those for many. What waits is in
`latchfree.streams.blocking`, what a ring is to this process in `latchfree.streams.handle`, whose the memory is in
`latchfree.streams.ownership`. The algorithm is in `latchfree.streams.kernels.ring`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchfree.arena import Arena
from latchfree.arguments import integer, seconds, shown
from latchfree.errors import LatchfreeError
from latchfree.streams.blocking import Blocking
from latchfree.streams.border import RING
from latchfree.streams.handle import LOOKS, NEWS, ROOM
from latchfree.streams.kernels import ring as r
from latchfree.streams.values import LEAST, MOST, checked, words_in

_DONE, _REFUSED, _STALLED = int(r.DONE), int(r.REFUSED), int(r.STALLED)


class RingBuffer(Blocking):
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
    when_full : str
        What `put` does when the ring is full: "block" waits, "reject" raises `RingFull`, "drop newest" drops the value,
        "drop oldest" drops values that are in the ring, the oldest first.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If `capacity` is no such power of two, `stall_timeout` is negative or not a number, or `when_full` is none of
        the four.
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
    >>> ring.put(5), ring.get(timeout=1)
    (True, 5)
    """

    __slots__ = ()

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        capacity: int,
        *,
        weak: bool = False,
        stall_timeout: float = 10.0,
        when_full: str = "block",
    ) -> RingBuffer:
        """Make an empty ring under a name in a shared arena, where others find it with `open`, until `unlink`.

        The ring belongs to the arena: it stays when its maker ends, and in a file, with what is in it, when all do.

        Parameters
        ----------
        arena : Arena
            The arena in which the ring is made.
        name : str
            At most 48 bytes of UTF-8.
        capacity, weak, stall_timeout, when_full
            As for `RingBuffer`.

        Raises
        ------
        StructureExists
            If the arena has something of that name.
        DirectoryFull
            If the arena has 64 structures already.
        ArenaFull
            If the arena has no room.
        """

        def make() -> RingBuffer:
            return RingBuffer(capacity, weak=weak, arena=arena, stall_timeout=stall_timeout, when_full=when_full)

        found: RingBuffer = cls._create(arena, name, "int", make, stall_timeout)
        return found

    @classmethod
    def open(cls, arena: Arena, name: str, *, stall_timeout: float = 10.0) -> RingBuffer:
        """Return the ring of a name in an arena.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind, or a ring of messages.
        """
        found: RingBuffer = cls._found(arena, name, stall_timeout)
        return found

    # one value -----------------------------------------------------------------------------------------------

    def try_put(self, value: int) -> bool:
        """Put a value at the end; False if the ring is full.

        Raises
        ------
        TypeError, ValueError
            If `value` is no integer, or has more than 64 bits (signed).
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is full.
        RingShutDown
            If the ring was shut down.
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        if type(value) is not int or not LEAST <= value <= MOST:
            value = checked(value)
        put, until = RING.put, 0.0
        while True:
            me = 0 if self._alone else self._shown[0] or self._enter()
            outcome = put(self._base, me, self._ring, self._number, value, LOOKS)
            if outcome == _DONE:
                return True
            if outcome == _REFUSED:
                return False
            if self._settle(outcome, NEWS) == _DONE:
                return True
            until = self._nap(until, "put")

    def try_get(self) -> int | None:
        """Take the oldest value; None if the ring is empty.

        Raises
        ------
        RingStalled
            If another thread has held the cell for `stall_timeout`, so that nobody knows whether the ring is empty.
        RingShutDown
            If the ring was shut down and is empty.
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        get, until = RING.get, 0.0
        while True:
            me = 0 if self._alone else self._shown[0] or self._enter()
            outcome, value = get(self._base, me, self._ring, self._number, LOOKS)
            if outcome == _DONE:
                return value  # type: ignore[no-any-return]
            if outcome == _REFUSED:
                return None
            if self._settle(outcome, ROOM) == _DONE:
                return value  # type: ignore[no-any-return]
            until = self._nap(until, "get")

    # many values ---------------------------------------------------------------------------------------------

    def put_many(self, values: ArrayLike, timeout: float | None = 0.0) -> int:
        """Put values in order until the ring is full and stays full, without the interpreter lock.

        Each put is atomic, the batch is not: puts of other threads may come in between.

        Parameters
        ----------
        values : array-like of integers
            Signed integers of 64 bits.
        timeout : float, optional
            Seconds to wait for room for all of them, from the call on; None waits for as long as it takes. By default
            it does not wait. What the ring does with single values when it is full has no bearing on it.

        Returns
        -------
        int
            How many values were put. Fewer than given: the ring was full, or the next put would have had to wait
            for longer than `stall_timeout`.

        Raises
        ------
        TypeError, ValueError
            If the values are not integers of 64 bits (signed) in one dimension, or `timeout` is no number of seconds
            from 0 on; none was put.
        RingStalled, RingShutDown, ArenaClosed, RingGone
            As from `try_put`; none was put.
        """
        wait = None if timeout is None else seconds(timeout, "timeout")
        given = words_in(values)
        return self._run_batch("put", RING.put_many, given, len(given), wait)

    def get_many(self, most: int, timeout: float | None = 0.0) -> NDArray[np.int64]:
        """Take values in order until the ring is empty, without the interpreter lock.

        Each get is atomic, the batch is not: others may get values in between.

        Parameters
        ----------
        most : int
            How many at most; one call takes no more than `capacity`.
        timeout : float, optional
            Seconds to wait for the first of them; None waits for as long as it takes. By default it does not wait.

        Returns
        -------
        ndarray of int64
            Fewer than that: the ring was empty, or the next get would have had to wait for longer than
            `stall_timeout`.

        Raises
        ------
        TypeError, ValueError
            If `most` is no integer or negative, or `timeout` is no number of seconds from 0 on.
        RingStalled, RingShutDown, ArenaClosed, RingGone
            As from `try_get`; none was taken.
        """
        wait, most = self._asked(most, timeout)
        values = np.empty(most, np.int64)
        return values[: self._run_batch("get", RING.get_many, values, min(1, most), wait)]

    def _asked(self, most: Any, timeout: float | None) -> tuple[float | None, int]:
        """Return the seconds to wait, and how many values one call takes at most."""
        wait = None if timeout is None else seconds(timeout, "timeout")
        most = integer(most, "most must be an integer of 0 or more")
        if most < 0:
            raise ValueError(f"most must be 0 or more, got {shown(most)}")
        return wait, min(most, self._capacity)

    def _run_batch(self, what: str, batch: Callable[..., Any], values: Any, wanted: int, wait: float | None) -> int:
        """Put or get values until the ring refuses, and wait until as many as are wanted are done; return how many."""
        own, other = (ROOM, NEWS) if what == "put" else (NEWS, ROOM)
        done, stalled, armed = 0, 0.0, 0
        until = float("inf") if wait is None else time.monotonic() + wait if wait else 0.0
        while True:
            reached = done
            try:
                reached, outcome = self._call_batch(batch, values, done)
                outcome = self._settle(outcome, other)
            except LatchfreeError:
                if reached:
                    return reached
                raise
            if outcome == _STALLED:
                stalled = self._nap(stalled if reached == done else 0.0, what, reached)
                done = reached
                if stalled < 0:
                    return done
                continue
            armed, done = armed if reached == done else 0, reached
            if done >= wanted or until <= time.monotonic():
                return done
            try:
                if armed:
                    self._sleep(own, armed, until)
                    armed = 0
                else:
                    armed = self._arm(own)
            except LatchfreeError:
                if done:
                    return done
                raise

    def _call_batch(self, batch: Callable[..., Any], values: Any, first: int, maker: int = 0) -> tuple[int, int]:
        base, ring, number = self._place
        owner = self._owner  # kept until the call is over, and with it the ring
        if self._closed:
            raise self._missing()
        if not self._arena.shared:  # nobody can close it
            reached, outcome = batch(base, 0, ring, number, first, LOOKS, values)
        else:
            with self._arena.lend(maker) as lent:
                reached, outcome = batch(base, lent, ring, number, first, LOOKS, values)
        del owner
        return int(reached), int(outcome)
