"""Working memory of compiled calls: a set of arrays a thread, which grow when a call finds them too short."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.concurrent.kernels.collect import MOST

_EVERYTHING = (1 << 64) - 2

#: I-nodes on the way to a digit, at most.
_LEVELS = 11


class Scratch:
    """The arrays of one thread.

    Attributes
    ----------
    places, offsets : ndarray of int64
        A column of one text, and what was found for it.
    numbers : ndarray of uint64
        The number of one subscription.
    starts, digits : ndarray of uint64
        A text's words.
    path : ndarray of uint64
        A descent.
    frames, noted, found, counts : ndarray of uint64
        A collection.
    row : ndarray of int64
        What is made of it.
    values : list of int
        What the last one found.
    subscribes, unsubscribes, matches, matched : int
        What the thread did.
    """

    def __init__(self) -> None:
        self.subscribes = self.unsubscribes = self.matches = self.matched = 0
        self.places: NDArray[np.int64] = np.zeros(2, np.int64)
        self.offsets: NDArray[np.int64] = np.zeros(2, np.int64)
        self.numbers: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self.counts: NDArray[np.uint64] = np.zeros(4, np.uint64)
        self.values: list[int] = []
        self._size = 1 << 10
        self._collect()
        self.make_room(64)

    def _collect(self) -> None:
        self.frames: NDArray[np.uint64] = np.empty(self._size * 3, np.uint64)
        self.noted: NDArray[np.uint64] = np.empty(self._size * 2, np.uint64)
        self.found: NDArray[np.uint64] = np.empty(self._size, np.uint64)
        self.row: NDArray[np.int64] = np.empty(self._size, np.int64)

    def make_room(self, length: int, words: int = 8) -> None:
        """Have room for a text of so many bytes, and for the descent of a pattern of so many words."""
        if not hasattr(self, "starts") or len(self.starts) < length + 3:
            self.starts: NDArray[np.uint64] = np.empty(length + 3, np.uint64)
            self.digits: NDArray[np.uint64] = np.empty(length + 3, np.uint64)
        most = 2 * _LEVELS * (words + 2) + 4
        if not hasattr(self, "path") or len(self.path) < most:
            self.path: NDArray[np.uint64] = np.empty(most, np.uint64)

    def grow(self) -> None:
        """Have twice the room for a collection."""
        self._size *= 2
        self._collect()

    def most(self, subscriptions: int = _EVERYTHING) -> None:
        """Have the next collection stop after so many subscriptions."""
        self.counts[MOST] = subscriptions

    def take(self) -> None:
        """Make a list of what was found for one text."""
        self.values = self.row[: self.offsets[1]].tolist()


class Scratches:
    """Those of all threads that use a matcher."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[Scratch] = []

    def mine(self, length: int, words: int) -> Scratch:
        """The calling thread's, with room for a text."""
        try:
            scratch: Scratch = self._local.scratch
        except AttributeError:
            scratch = self._local.scratch = Scratch()
            self._all.append(scratch)
        scratch.make_room(length, words)
        return scratch

    def total(self, count: str) -> int:
        """What all threads did of one sort."""
        return sum(getattr(each, count) for each in self._all)
