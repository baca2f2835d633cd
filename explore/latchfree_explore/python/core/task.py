"""A thread of a schedule, and what it waits for: a lock, a deadline, or a write that its loop looks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from latchfree_explore.python.core.steps import Accesses, Location


class Blocker(Protocol):
    """What a thread waits for."""

    def ready(self) -> bool:
        """Return whether the thread may go on."""
        ...

    def waited_for(self) -> str:
        """Return what the thread waits for, in words."""
        ...


class Task:
    """A thread of the explored program, or the world outside: what the end of the program does not wait for."""

    __slots__ = (
        "asked_time", "blocker", "condition", "deadline", "done", "doubt", "doubted", "error", "gives", "greenlet",
        "holds", "last_step", "misses", "name", "number", "on_end", "opening", "outside", "parked", "pending", "polled",
        "spin", "starter", "tick", "yields",
    )  # fmt: skip

    def __init__(self, number: int, name: str, outside: bool = False) -> None:
        self.number = number
        self.name = name
        self.outside = outside
        self.greenlet: Any = None
        self.starter: Any = None
        self.parked = False
        self.polled = False
        self.holds = 0  # how many locks
        self.done = False
        self.error: BaseException | None = None
        self.blocker: Blocker | None = None
        self.deadline: float | None = None
        self.pending: tuple[Location, str] | None = None
        self.last_step = -1
        self.opening: Any = None
        self.spin: Any = None
        self.asked_time = False  # since a loop last waited
        self.tick = (0, 0.0)  # the line of a loop that waits for the clock, and how long it waited last
        self.doubt = self.doubted = (
            False  # whether a generator may have got on in this round of a loop, in the last one
        )
        self.misses = False  # whether the next function that is entered is one whose result was not in its cache
        self.condition = 0
        self.gives: Any = None  # the lock that its last wait for a notify has given back and taken again
        self.yields = False  # whether its next wait of no time lets others go on
        self.on_end: list[Callable[[], None]] = []


class Spin:
    """A loop that can do nothing new until one of the places it has read is written."""

    def __init__(self, reads: Accesses, woken: bool, words: str, line: int = 0) -> None:
        self.reads = reads
        self.line = line
        self.woken = woken
        self._words = words

    def ready(self) -> bool:
        """Return whether one of the places was written."""
        return self.woken

    def written(self, location: Location) -> None:
        """Note that a place was written."""
        if location in self.reads:
            self.woken = True

    def waited_for(self) -> str:
        """Return what the loop waits for, in words."""
        return self._words
