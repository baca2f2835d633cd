"""The places at which work runs: as many jobs at a time as there are places, the largest of those that wait first.

Example: two places, and jobs of sizes 3, 1 and 2 come while both are taken. When a place is free, the job of size 3
gets it; the small jobs come last and fill what the large ones leave, so that all places end at nearly the same time.

Invariant: at most `count` threads are between the beginning and the end of `taken`. Nobody waits once `cancelled` is
set.
"""

import heapq
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST: Final = 8
"""A run of TLC takes some hundred megabytes."""

_TICK: Final = 0.2
"""Seconds between two looks at whether all has been cancelled."""


def processors() -> int:
    """Return how many processors this process may use; where the system does not say, how many there are."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def default_count() -> int:
    """Return how many jobs run at a time: one more than processors, since each waits at its start; at most eight."""
    return min(MOST, processors() + 1)


class Slots:
    """Places for jobs.

    Parameters
    ----------
    count : int
        How many places.
    cancelled : threading.Event
        Ends all waiting.
    """

    def __init__(self, count: int, cancelled: threading.Event) -> None:
        self.count = count
        self._cancelled = cancelled
        self._free = count
        self._waiting: list[tuple[float, int]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, size: float) -> Iterator[bool]:
        """Wait for a place and give it back at the end.

        Parameters
        ----------
        size : float
            How large the job is; of jobs that wait the largest is next, of equal ones the first that came.

        Yields
        ------
        bool
            False if all has been cancelled: there is no place then, and nothing is to be started.
        """
        if not self._take(size):
            yield False
            return
        try:
            yield True
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def _take(self, size: float) -> bool:
        me = (-size, next(self._numbers))
        with self._changed:
            heapq.heappush(self._waiting, me)
            try:
                while not self._cancelled.is_set():
                    if self._free and self._waiting[0] == me:
                        self._free -= 1
                        return True
                    self._changed.wait(_TICK)
                return False
            finally:
                self._waiting.remove(me)
                heapq.heapify(self._waiting)
                self._changed.notify_all()
