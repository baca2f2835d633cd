"""Working memory of compiled calls: each thread has a set of arrays, which grow when a call finds one too short."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.concurrent.kernels.collect import MOST, Buffers
from latchfree.topics.concurrent.kernels.rows import Descent

_EVERYTHING = (1 << 64) - 2

#: I-nodes on the way to a digit, at most.
_LEVELS = 11


class Scratch:
    """The arrays of one thread.

    Attributes
    ----------
    places, offsets : ndarray of int64
        A column of one text, and where the text's subscribers are in `row`.
    numbers : ndarray of uint64
        The number of one subscription.
    descent : Descent
        A pattern's words, and the path to its place.
    buffers : Buffers
        A topic's words, and a collection.
    row : ndarray of int64
        The subscribers of one topic.
    values : list of int
        The subscribers, or the S-nodes, of the last topic.
    subscribes, unsubscribes, matches, matched : int
        How often the thread did each.
    """

    def __init__(self) -> None:
        self.subscribes = self.unsubscribes = self.matches = self.matched = 0
        self.places: NDArray[np.int64] = np.zeros(2, np.int64)
        self.offsets: NDArray[np.int64] = np.zeros(2, np.int64)
        self.numbers: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self.counts: NDArray[np.uint64] = np.zeros(4, np.uint64)
        self.values: list[int] = []
        self._letters = self._path = 0
        self._subscriptions = 1 << 9
        self.buffers = self._new_buffers(_words(0), _words(0))
        self.descent = Descent(_words(0), _words(0), _words(0))
        self.grow()
        self.make_room(64)

    def make_room(self, length: int, words: int = 8) -> None:
        """Have room for a text of `length` bytes, and for the descent of a pattern of `words` words."""
        path = 2 * _LEVELS * (words + 2) + 4
        if length <= self._letters and path <= self._path:
            return
        self._letters, self._path = max(length, self._letters), max(path, self._path)
        starts, digits = _words(self._letters + 3), _words(self._letters + 3)
        self.descent = Descent(starts, digits, _words(self._path))
        self.buffers = self.buffers._replace(starts=starts, digits=digits)

    def grow(self) -> None:
        """Have twice the room for a collection."""
        self._subscriptions *= 2
        self.row: NDArray[np.int64] = np.empty(self._subscriptions, np.int64)
        self.buffers = self._new_buffers(self.buffers.starts, self.buffers.digits)

    def _new_buffers(self, starts: NDArray[np.uint64], digits: NDArray[np.uint64]) -> Buffers:
        room = self._subscriptions
        return Buffers(starts, digits, _words(room * 3), _words(room * 2), _words(room), self.counts)

    def stop_after(self, subscriptions: int = _EVERYTHING) -> None:
        """Have the next collection stop after `subscriptions` subscriptions."""
        self.counts[MOST] = subscriptions

    def take(self) -> None:
        """Make a list of the subscribers of one topic."""
        self.values = self.row[: self.offsets[1]].tolist()


class Scratches:
    """The scratch of every thread that uses a matcher."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[Scratch] = []

    def mine(self, length: int, words: int) -> Scratch:
        """Return the calling thread's scratch, with room for a text."""
        try:
            scratch: Scratch = self._local.scratch
        except AttributeError:
            scratch = self._local.scratch = Scratch()
            self._all.append(scratch)
        scratch.make_room(length, words)
        return scratch

    def total(self, count: str) -> int:
        """Return one count, of all threads together."""
        return sum(getattr(each, count) for each in self._all)


def _words(count: int) -> NDArray[np.uint64]:
    return np.empty(count, np.uint64)
