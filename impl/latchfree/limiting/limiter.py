"""`RateLimiter`: at most so many a second, all threads and processes together.

Example: ``RateLimiter(rate=100, burst=10)`` lets ten calls through at once, and then one each hundredth of a second.

The algorithm, one word and one compare-and-swap, is in `latchfree.limiting.kernels.bucket`. Here is the clock: it is
read before a call, and a refusal is looked at with a clock that was read after it.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from latchfree.arena import Arena
from latchfree.arguments import choice, fraction, seconds, whole
from latchfree.errors import ArenaInvalid, LatchfreeError
from latchfree.limiting.border import BUCKET
from latchfree.limiting.errors import LimiterGone, RateLimited
from latchfree.limiting.kernels.bucket import GRANTED
from latchfree.limiting.sleeping import Sleepers, wake
from latchfree.resting import rest
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.place import Place, check_arena, unlink
from latchfree.sketches.common.shapes import MOST_SPAN, Shape
from latchfree.structures import RATE_LIMITER

#: Ticks of a nanosecond.
TICKS: Final = 32
#: Ticks of a second.
SECOND: Final = TICKS * 10**9

LEAST_RATE: Final = 1e-6
MOST_RATE: Final = 1e8
MOST_BURST: Final = (1 << 32) - 1

#: What `acquire` does when there are too few tokens: the place of each is its number in the shape.
WHEN_EMPTY: Final = ("block", "reject", "shed")
_BLOCK, _REJECT, _SHED = range(len(WHEN_EMPTY))

_GRANTED: Final = int(GRANTED)
#: Seconds of one sleep at most.
_NAP: Final = 1.0


class LimiterPlace(Place):
    """The memory of one rate limiter, as this process sees it."""

    __slots__ = ()

    WHAT: ClassVar[str] = "rate limiter"
    GONE: ClassVar[type[LatchfreeError]] = LimiterGone


@dataclass(frozen=True, slots=True)
class RateCounts:
    """What all threads and processes have asked of a rate limiter so far.

    Attributes
    ----------
    granted : int
        Tokens taken.
    refused : int
        Tokens that callers had asked for and did not get.
    """

    granted: int
    refused: int


class RateLimiter:
    """A token bucket, shared by threads and, in an arena, by processes; nobody waits for anybody.

    Parameters
    ----------
    rate : float
        Tokens that come in a second: from 1e-6 to 1e8. The time between two tokens is rounded up to 1/32 ns.
    burst : int
        Tokens that the bucket holds; it begins full. From 1 to 4,294,967,295, and filling takes at most four years.
    when_empty : str
        What `acquire` does when there are too few tokens: "block" waits, "reject" raises `RateLimited`, "shed" returns
        False.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another type or out of range.

    Notes
    -----
    Of the tokens taken at instants between s and e there are never more than ``burst + rate * (e - s)``: each grant has
    its instant between call and return. A refusal is true at an instant between call and return, too: the limiter is
    linearizable, see ``spec/RateLimiter.tla``. Whoever waits is in no queue, and is killed or cancelled without loss.

    Examples
    --------
    >>> calls = RateLimiter(rate=0.001, burst=3)
    >>> calls.try_acquire(2), calls.try_acquire(2), calls.try_acquire()
    (True, False, True)
    """

    __slots__ = ("_place", "_sleepers")

    _place: Place
    #: Who waits in this process, if the limiter can go.
    _sleepers: Sleepers | None
    #: Nanoseconds of the clock of this boot.
    _clock: ClassVar[Any] = staticmethod(time.monotonic_ns)

    def __init__(self, rate: float, burst: int = 1, *, when_empty: str = "block") -> None:
        self._place = LimiterPlace.private(RATE_LIMITER, _shape(rate, burst, when_empty), 0)
        self._sleepers = None

    @classmethod
    def _of(cls, place: Place) -> RateLimiter:
        made = cls.__new__(cls)
        made._place = place
        made._sleepers = None if place.arena is None else Sleepers(place.arena, place)
        return made

    @classmethod
    def create(cls, arena: Arena, name: str, rate: float, burst: int = 1, *, when_empty: str = "block") -> RateLimiter:
        """Make a full bucket under a name in an arena, where others find it with `open`, until `unlink`.

        Parameters
        ----------
        arena : Arena
            The arena in which the bucket is made.
        name : str
            At most 48 bytes of UTF-8.
        rate, burst, when_empty
            As for `RateLimiter`.

        Raises
        ------
        StructureExists
            If the arena has something of that name.
        DirectoryFull
            If the arena has 64 structures already.
        ArenaFull
            If the arena has no room.
        """
        return cls._of(LimiterPlace.named(arena, name, RATE_LIMITER, _shape(rate, burst, when_empty), 0, "tokens"))

    @classmethod
    def open(cls, arena: Arena, name: str) -> RateLimiter:
        """Return the rate limiter of a name in an arena.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind.
        """
        return cls._of(LimiterPlace.found(arena, name, RATE_LIMITER))

    @classmethod
    def unlink(cls, arena: Arena, name: str) -> None:
        """Take a rate limiter out of an arena's directory, and free its memory; other calls raise `LimiterGone`.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind.
        """
        unlink(arena, name, RATE_LIMITER, wake)

    # tokens -----------------------------------------------------------------------------------------------------

    def try_acquire(self, tokens: int = 1, *, reserve: int = 0) -> bool:
        """Take tokens if they are there; False if not, and then none is taken.

        Parameters
        ----------
        tokens : int
            From 1 to `burst`.
        reserve : int
            Take them only if so many remain, for more important callers.

        Raises
        ------
        TypeError, ValueError
            If an argument is no integer, or both together are more than `burst`.
        ArenaClosed, LimiterGone
            After its arena was closed, or the limiter was unlinked.
        """
        tokens, reserve = self._checked(tokens, reserve)
        if self._lacking(tokens, reserve):
            self._place.call(BUCKET.refuse, tokens)
            return False
        return True

    def acquire(self, tokens: int = 1, timeout: float | None = None, *, reserve: int = 0) -> bool:
        """Take tokens; if they are not there, do what the limiter was made to do.

        Parameters
        ----------
        tokens, reserve : int
            As for `try_acquire`.
        timeout : float, optional
            Seconds to wait at most, if the limiter was made with ``when_empty="block"``; None waits for as long as it
            takes. Where it is known at once that they cannot be there in time, it does not wait.

        Returns
        -------
        bool
            False if there were too few and the limiter was made with ``when_empty="shed"``; else True.

        Raises
        ------
        RateLimited
            If they cannot be there in time; or at once, with ``when_empty="reject"``.
        TypeError, ValueError, ArenaClosed, LimiterGone
            As from `try_acquire`.
        """
        tokens, reserve = self._checked(tokens, reserve)
        until = _until(timeout)
        while True:
            wait = self._wait(tokens, reserve, until)
            if wait <= 0.0:
                return wait == 0.0
            if self._sleepers is None:
                time.sleep(wait)
            else:
                self._sleepers.sleep(wait)

    async def aacquire(self, tokens: int = 1, timeout: float | None = None, *, reserve: int = 0) -> bool:
        """Take tokens as `acquire` does, and let other coroutines run meanwhile.

        A coroutine that is cancelled has taken none.
        """
        tokens, reserve = self._checked(tokens, reserve)
        until = _until(timeout)
        while True:
            try:
                wait = self._wait(tokens, reserve, until)
            except SystemExit:
                await rest(self._place.arena)
                raise
            if wait <= 0.0:
                return wait == 0.0
            await (asyncio.sleep if self._sleepers is None else self._sleepers.asleep)(wait)

    def _checked(self, tokens: Any, reserve: Any) -> tuple[int, int]:
        if tokens.__class__ is reserve.__class__ is int and reserve == 0 and 1 <= tokens <= self.burst:
            return tokens, 0
        tokens, reserve = whole(tokens, "tokens", 1, self.burst), whole(reserve, "reserve", 0, self.burst)
        if tokens + reserve > self.burst:
            raise ValueError(
                f"{tokens:,} tokens and a reserve of {reserve:,} are more than the bucket ever holds, {self.burst:,}; "
                "ask for fewer at a time, or make the limiter with a greater burst"
            )
        return tokens, reserve

    def _lacking(self, tokens: int, reserve: int) -> int:
        """Take tokens and return 0; or return in how many ticks they can be there, which was true at an instant."""
        place, clock = self._place, self._clock
        cost, span = place.shape[:2]
        ticks, room = tokens * cost, span - reserve * cost
        while True:
            seen = place.call(BUCKET.acquire, tokens, reserve, clock() * TICKS)
            if seen == _GRANTED:
                return 0
            # spec: RateLimiter!LookAgain -- the clock is read after the word (mutant K2).
            now = clock() * TICKS
            if seen > now + span:  # of another boot, whose clock had gone further: nobody knows how long that is ago
                place.call(BUCKET.set_back, seen, now + span)
            elif max(seen, now) + ticks > now + room:
                return int(max(seen, now) + ticks - now - room)

    def _wait(self, tokens: int, reserve: int, until: float) -> float:
        """Take tokens and return 0; or return the seconds to wait, or -1 where they are shed."""
        ticks = self._lacking(tokens, reserve)
        if not ticks:
            return 0.0
        policy, wait = self._place.shape[2], ticks / SECOND
        if policy == _BLOCK and time.monotonic() + wait <= until:
            return min(wait, _NAP)
        self._place.call(BUCKET.refuse, tokens)
        if policy == _SHED:
            return -1.0
        raise RateLimited(
            f"{self!r} has too few tokens: {tokens:,} can be there in {wait:.3g} s; wait, or ask for fewer", wait
        )

    def available(self) -> float:
        """Return how many tokens there are, a part of one included; others may take them meanwhile."""
        cost, span = self._place.shape[:2]
        seen = self._place.call(BUCKET.read, 0)
        now = self._clock() * TICKS
        return float(max(0, now + span - max(seen, now)) / cost)

    def counts(self) -> RateCounts:
        """Return how many tokens were granted and refused, to all threads and processes together."""
        return RateCounts(int(self._place.call(SKETCH.added)), int(self._place.call(BUCKET.read, 1)))

    # what it is -------------------------------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """Tokens that come in a second."""
        return SECOND / self._place.shape[0]

    @property
    def burst(self) -> int:
        """Tokens that the bucket holds."""
        return self._place.shape[1] // self._place.shape[0]

    @property
    def when_empty(self) -> str:
        """What `acquire` does when there are too few tokens."""
        return WHEN_EMPTY[self._place.shape[2]]

    @property
    def arena(self) -> Arena | None:
        """The arena that holds a named limiter, None for a private one."""
        return self._place.arena

    @property
    def name(self) -> str | None:
        """The name in the arena, None for a private limiter."""
        return self._place.name

    def __repr__(self) -> str:
        where = "" if self.name is None else f", {self.name!r}"
        return f"<RateLimiter of {self.rate:,.6g} a second, {self.burst:,} at once, {self.when_empty}{where}>"

    def __reduce__(self) -> tuple[Any, ...]:
        place = self._place
        if place.arena is None or not place.arena.shared:
            raise TypeError(
                "a RateLimiter in private memory cannot be copied or sent: two would grant twice as much; "
                "make it in a shared arena with RateLimiter.create"
            )
        return _reopened, (place.arena, place.arena.number, place.name, place.number)


def _shape(rate: Any, burst: Any, when_empty: Any) -> Shape:
    cost = math.ceil(SECOND / fraction(rate, "rate", LEAST_RATE, MOST_RATE))
    span = cost * whole(burst, "burst", 1, MOST_BURST)
    policy = choice(when_empty, "when_empty", WHEN_EMPTY)
    if span > MOST_SPAN:
        raise ValueError(
            f"a bucket of {burst:,} tokens would take {span / SECOND:,.0f} s to fill, the most is "
            f"{MOST_SPAN / SECOND:,.0f}; use a smaller burst, or a higher rate"
        )
    return cost, span, policy, 0


def _until(timeout: Any) -> float:
    return math.inf if timeout is None else time.monotonic() + seconds(timeout, "timeout")


def _reopened(arena: Arena, identity: int, name: str, number: int) -> RateLimiter:
    """Return a named limiter that was pickled."""
    if check_arena(arena).number != identity:
        raise ArenaInvalid(
            f"{arena.region.where}: not the arena that rate limiter {name!r} is in: another one has taken its place"
        )
    return RateLimiter._of(LimiterPlace.found(arena, name, RATE_LIMITER, number))
