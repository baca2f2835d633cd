"""Working memory of compiled calls: sets of arrays, each lent to one call at a time.

Example: a call of `match` is interrupted by a signal, and the handler matches, too. The handler is lent another set.

A pool is a list. Its ``pop`` and ``append`` are single steps of the interpreter, so the pool needs no lock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.concurrent.kernels.collect import MOST, Buffers
from latchfree.topics.concurrent.kernels.rows import Descent

_EVERYTHING = (1 << 64) - 2

#: I-nodes on the way to a digit, at most.
_LEVELS = 11

#: Sets that the pool keeps with their arrays, and the words that the arrays of such a set may have.
_READY = 8
_LARGE = 1 << 19


class Scratch:
    """The arrays of one call.

    Attributes
    ----------
    places, offsets : ndarray of int64
        A column of one text, and where the text's subscribers are in `row`.
    numbers, words : ndarray of uint64, ndarray of int64
        The number of one subscription, and the word for its subscriber.
    descent : Descent
        A pattern's words, and the path to its place.
    buffers : Buffers
        A topic's words, and a collection.
    row : ndarray of int64
        The subscribers of one topic, or its S-nodes and their copies.
    large : bool
        Whether the arrays are too large to be kept.
    subscribes, unsubscribes, matches, matched : int
        How often calls with this set did each.
    """

    def __init__(self) -> None:
        self.subscribes = self.unsubscribes = self.matches = self.matched = 0
        self.places: NDArray[np.int64] = np.zeros(2, np.int64)
        self.offsets: NDArray[np.int64] = np.zeros(2, np.int64)
        self.numbers: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self.words: NDArray[np.int64] = np.zeros(1, np.int64)
        self.counts: NDArray[np.uint64] = np.zeros(4, np.uint64)
        self.empty()
        self.start()

    def empty(self) -> None:
        """Have no arrays to speak of."""
        self._letters = self._path = self._subscriptions = 0
        self.row: NDArray[np.int64] = np.empty(0, np.int64)
        self.buffers = self._new_buffers(_words(0), _words(0))
        self.descent = Descent(_words(0), _words(0), _words(0))

    def start(self) -> None:
        """Have arrays of the first size."""
        self._subscriptions = 1 << 9
        self.grow()
        self.make_room(64)

    def make_room(self, length: int, words: int = 8) -> None:
        """Have room for a text of `length` bytes, and for the descent of a pattern of `words` words."""
        path = 2 * _LEVELS * (words + 2) + 4
        if length <= self._letters and path <= self._path:
            return
        self._letters, self._path = max(length, self._letters), max(path, self._path)
        self._measure()
        starts, digits = _words(self._letters + 3), _words(self._letters + 3)
        self.descent = Descent(starts, digits, _words(self._path))
        self.buffers = self.buffers._replace(starts=starts, digits=digits)

    def grow(self) -> None:
        """Have twice the room for a collection."""
        self._subscriptions *= 2
        self._measure()
        self.row = np.empty(self._subscriptions, np.int64)
        self.buffers = self._new_buffers(self.buffers.starts, self.buffers.digits)

    def _measure(self) -> None:
        self.large = 2 * self._letters + self._path + 7 * self._subscriptions > _LARGE

    def _new_buffers(self, starts: NDArray[np.uint64], digits: NDArray[np.uint64]) -> Buffers:
        room = self._subscriptions
        return Buffers(starts, digits, _words(room * 3), _words(room * 2), _words(room), self.counts)

    def stop_after(self, subscriptions: int = _EVERYTHING) -> None:
        """Have the next collection stop after `subscriptions` subscriptions."""
        self.counts[MOST] = subscriptions

    def found(self) -> list[int]:
        """Return the subscribers of one topic."""
        values: list[int] = self.row[: self.offsets[1]].tolist()
        return values


class Loan:
    """A set for a ``with`` block."""

    __slots__ = ("_pool", "_scratch")

    def __init__(self, pool: Scratches) -> None:
        self._pool = pool

    def __enter__(self) -> Scratch:
        self._scratch = self._pool.lend()
        return self._scratch

    def __exit__(self, *exception: object) -> None:
        self._pool.take_back(self._scratch)


class Scratches:
    """The pool of a matcher."""

    def __init__(self) -> None:
        self._all: list[Scratch] = []
        self._ready: list[Scratch] = []
        self._empty: list[Scratch] = []  # beyond `_READY`, or grown too large

    def lend(self) -> Scratch:
        """Return a set that nobody else has until `take_back`."""
        try:
            return self._ready.pop()
        except IndexError:
            return self._start_one()

    def _start_one(self) -> Scratch:
        try:
            scratch = self._empty.pop()
        except IndexError:
            scratch = Scratch()
            self._all.append(scratch)
        else:
            scratch.start()
        return scratch

    def take_back(self, scratch: Scratch) -> None:
        """End a loan."""
        if not scratch.large and len(self._ready) < _READY:
            self._ready.append(scratch)
        else:
            scratch.empty()
            self._empty.append(scratch)

    def lent(self) -> Loan:
        """Lend a set for a ``with`` block."""
        return Loan(self)

    def total(self, count: str) -> int:
        """Return one count, of all calls together."""
        return sum(getattr(each, count) for each in list(self._all))


def _words(count: int) -> NDArray[np.uint64]:
    return np.empty(count, np.uint64)
