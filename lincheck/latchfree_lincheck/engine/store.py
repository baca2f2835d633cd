"""The store of states from the outside: tables that grow within a bound of memory and time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline, GaveUp
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, PUT
from latchfree_lincheck.engine.compiled_models.states import States
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, EMPTY, KEYS, SHAPE_FIELDS, Rows
from latchfree_lincheck.history.timeline import Ints

Scalar = TypeVar("Scalar", bound=np.generic)


_GROWS_A_SECOND = 100 << 20
"""Bytes by which a table can certainly be made larger in a second."""


class NoRoom(Exception):
    """The tables may not grow any more: "memory", or "timeout" if that would take too long."""

    def __init__(self, gave_up: GaveUp) -> None:
        super().__init__(gave_up)
        self.gave_up = gave_up


def doubled(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return an array twice as long that begins with `array`."""
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


class Store:
    """The hash-consed states of one engine; see `latchfree_lincheck.engine.compiled_models.states`.

    Parameters
    ----------
    memory : int
        The most bytes that this store and the engine's other tables may take together.
    deadline : Deadline
        When the search ends.
    """

    def __init__(self, memory: int, deadline: Deadline) -> None:
        self._memory = memory
        self._deadline = deadline
        self.nodes: Ints = np.empty((1 << 10, 2), np.int64)
        self.slots: Ints = np.zeros(1 << 11, np.int64)
        self.size: Ints = np.zeros(1, np.int64)

    def states(self) -> States:
        """Return the arrays of the store, until it grows."""
        return States(self.nodes, self.slots, self.size)

    def taken(self) -> int:
        """Return how much memory the tables take."""
        return self.nodes.nbytes + self.slots.nbytes

    def require(self, more: int) -> None:
        """Raise NoRoom unless so many more bytes are allowed, and can be filled before the deadline."""
        if self.taken() + more > self._memory:
            raise NoRoom("memory")
        left = self._deadline.left()
        if left is not None and more > _GROWS_A_SECOND * left:
            raise NoRoom("timeout")

    def forget_states(self) -> None:
        """Empty the store."""
        self.size[0] = 0
        self.slots.fill(0)

    def room_for_nodes(self, wanted: int) -> None:
        """Make room for that many more nodes."""
        wanted += int(self.size[0])
        while len(self.nodes) < wanted:
            self.require(2 * (self.nodes.nbytes + self.slots.nbytes))
            self.nodes = doubled(self.nodes)
            self.slots = np.zeros(2 * len(self.slots), np.int64)
            ENGINE.rehash_nodes(self.nodes, self.slots, self.size)

    def number(self, values: Ints, depth: int) -> int:
        """Return the number of the map that holds `values`, and nothing at keys beyond them."""
        self.room_for_nodes(1 << depth)
        leaves = np.full(1 << depth, ABSENT, np.int64)
        leaves[: len(values)] = values
        return int(ENGINE.build(self.nodes, self.slots, self.size, depth, leaves))

    def shape(self, depth: int, keys: int) -> Ints:
        """Return the shape of a state with that many keys, and number the empty one."""
        shape: Ints = np.zeros(SHAPE_FIELDS, np.int64)
        shape[DEPTH], shape[KEYS] = depth, keys
        shape[EMPTY] = self.number(np.full(keys, ABSENT), depth)
        return shape

    def chain(self, words: Ints) -> int:
        """Return the number of the chain of `words`, the last one on top."""
        self.room_for_nodes(len(words))
        return int(ENGINE.extend(self.nodes, self.slots, self.size, ABSENT, words))

    def values(self, state: int, depth: int, keys: int) -> Ints:
        """Return the values of a map's keys."""
        return np.array([ENGINE.fetch(self.nodes, depth, state, key) for key in range(keys)], np.int64)

    def number_texts(self, rows: Rows, texts: Sequence[bytes]) -> None:
        """Turn indices of texts in rows (what is put, what was read) into states."""
        if not texts:
            return
        order = sorted(range(len(texts)), key=texts.__getitem__)
        text = b"".join([texts[index] for index in order])
        bounds = np.array([0, *accumulate([len(texts[index]) for index in order])], np.int64)
        befores, found, numbers = np.empty((3, len(texts)), np.int64)
        self.room_for_nodes(int(ENGINE.nest(text, bounds, befores)))
        ENGINE.extend_all(self.states(), text, bounds, befores, found)
        numbers[order] = found
        put = (rows[:, 0] == PUT) & (rows[:, 2] >= 0)
        rows[put, 2] = numbers[rows[put, 2]]
        known = rows[:, 4] >= 0
        rows[known, 4] = numbers[rows[known, 4]]
