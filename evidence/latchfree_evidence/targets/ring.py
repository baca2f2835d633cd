"""The ring buffer as a target: two cells, and positions that wrap around after the first two.

`RING` is the strict one; `WEAK_RING` is judged as a weak queue (see
`latchfree_lincheck.criteria.weak_queue`). Who has to wait pauses, and never gives up.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.ring import DONE, REFUSED, count, format_ring, try_get, try_put
from latchfree_explore.target import Operation, Target
from latchfree_lincheck.criteria.weak_queue import without_excused
from latchfree_lincheck.history import History

CAPACITY: Final = 2

_0 = np.uint64(0)
_1 = np.uint64(1)
_RING = np.uint64(64)
_CELLS = np.uint64(192)
_MASK = np.uint64(CAPACITY - 1)
_FIRST = np.uint64((1 << 64) - CAPACITY)
_FOR_EVER = np.uint64((1 << 64) - 1)
_EMPTY = -1


@kernel
def new_ring(mem: Handle, threads: Word) -> Word:
    """Make an empty ring."""
    format_ring(mem, _RING, _CELLS, _MASK, _0, _FIRST)
    return _RING


@kernel
def new_weak_ring(mem: Handle, threads: Word) -> Word:
    """Make an empty weak ring."""
    format_ring(mem, _RING, _CELLS, _MASK, _1, _FIRST)
    return _RING


@kernel
def enqueue(mem: Handle, ring: Word, thread: Word, value: Word) -> Word:
    """Put a value; return whether there was room."""
    return try_put(mem, ring, np.uint64(value), _FOR_EVER, _0) == DONE


@kernel
def dequeue(mem: Handle, ring: Word, thread: Word) -> Word:
    """Get a value, or _EMPTY."""
    outcome, value = try_get(mem, ring, _FOR_EVER, _0)
    return _EMPTY if outcome == REFUSED else np.int64(value)


@kernel
def size(mem: Handle, ring: Word, thread: Word) -> Word:
    """Count the values."""
    return np.int64(count(mem, ring))


def _value(word: int) -> Hashable:
    return None if word == _EMPTY else word


_OPERATIONS: Final = {"enqueue": Operation(enqueue, bool), "dequeue": Operation(dequeue, _value)}


class WeakTarget(Target):
    """A weak queue: a refusal needs no explanation while an operation of the other kind is under way."""

    def judged(self, history: History) -> History:
        """Return a history without the refusals that need no explanation."""
        return without_excused(history)


RING: Final = Target("ring", f"bounded-queue:{CAPACITY}", _OPERATIONS, new_ring)
WEAK_RING: Final = WeakTarget("weak-ring", f"bounded-queue:{CAPACITY}", _OPERATIONS, new_weak_ring)
