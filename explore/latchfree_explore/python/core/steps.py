"""What a step of a thread touched, and which steps depend on each other.

A *location* is an object's number and a part of it. Two steps are dependent if both touch a location and the two kinds
of access do not commute; exchanging independent neighbours changes nothing. Parts of containers:

=============  =================================================================================
``("k", key)`` the item at a key, or at an index of a list
``"shape"``    which keys there are, in which order; the length
``"vals"``     all values together: an item is `PUT` there, ``values()`` reads
``"all"``      every item at once: an item's access reads, ``clear()`` writes
=============  =================================================================================

So two writes to different keys commute, either conflicts with ``values()``, and both conflict with ``clear()``.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeAlias

Location: TypeAlias = tuple[int, Hashable]
Accesses: TypeAlias = dict[Location, str]

READ: Final = "read"
WRITE: Final = "write"
PUT: Final = "put"
ACQUIRE: Final = "acquire"
"""A lock is taken; the thread waits for the lock."""
TRY: Final = "try"
"""A lock is taken by an attempt that could have failed."""
TAKE: Final = "take"
"""An item is taken out of a queue; the thread waits for one."""
BAR: Final = "bar"
"""Something is kept from happening for a while, as a deadline by a timer with an earlier one."""
DUE: Final = "due"
"""What can be barred happens."""
RELEASE: Final = "release"
PROBE: Final = "probe"
"""A look at a lock that leaves the lock alone: an attempt that failed, ``locked()``."""
TIMEOUT: Final = "timeout"
"""Time has passed, which it does only where no thread can move: ordered with every step."""

_COMMUTING: Final = frozenset({(READ, READ), (PUT, PUT), (PROBE, PROBE), (BAR, BAR)})

CLOCK: Final[Location] = (0, "clock")
ALIVE: Final[Location] = (0, "alive")
"""Which threads there are: each that comes or goes is `PUT` there, ``threading.enumerate()`` reads."""


def conflict(a: str, b: str) -> bool:
    """Return whether two kinds of access to one location do not commute."""
    return (a, b) not in _COMMUTING


def both(a: str, b: str) -> str:
    """Return the kind of two accesses of one step to one location; what is taken stays taken."""
    if TAKE in (a, b):
        return TAKE
    return TRY if a in (ACQUIRE, TRY) or b in (ACQUIRE, TRY) else WRITE


class Step:
    """What one thread did between two decisions of the scheduler.

    Attributes
    ----------
    thread : int
    accesses : dict
        The kind of access to each location.
    line : int
        Of the first access, 0 if there was none.
    named : bool
        Whether the step gave a number to an object that nobody had touched before. The number depends on who touches
        first, so two such steps are dependent.
    started : tuple of int
        Threads that the step started.
    waiting : tuple of (int, Location, str)
        Of a step before which time has passed: who waited meanwhile, and the access that would end the wait.
    sooner : bool
        Of such a step: whether time could have passed while others could go on.
    texts : tuple of tuple
        File, line and words for each access; only if the run is told in words.
    """

    __slots__ = ("accesses", "line", "named", "sooner", "started", "texts", "thread", "waiting")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.accesses: Accesses = {}
        self.line = 0
        self.named = False
        self.started: tuple[int, ...] = ()
        self.waiting: tuple[tuple[int, Location, str], ...] = ()
        self.sooner = False
        self.texts: tuple[tuple[str, int, str], ...] = ()


def dependent(a: Accesses, b: Accesses) -> bool:
    """Return whether the order of two steps matters."""
    if CLOCK in a or CLOCK in b:
        return True
    if len(a) > len(b):
        a, b = b, a
    for location, kind in a.items():
        other = b.get(location)
        if other is not None and (kind, other) not in _COMMUTING:
            return True
    return False
