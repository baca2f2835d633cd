"""A ring that is shut down, as a target; and those who sleep until somebody has told them of a change.

Example: ``put(1); get | put(2) | close``. After the close has returned no put succeeds, and gets take what is left.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import fetch_or, load, load_seq, pause, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.streams.kernels.parking import arm, tell
from latchfree.streams.kernels.ring import DONE, REFUSED, try_get, try_put
from latchfree.streams.kernels.shutting import shut
from latchfree_evidence.targets.ring import CAPACITY, new_ring
from latchfree_explore.target import Operation, Target
from latchfree_model.models import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_FOR_EVER = np.uint64((1 << 64) - 1)
_REFUSED: Final = -1
_SHUT: Final = -2
_NEWS = np.uint64(8)  # the word of those who sleep, behind the flag


class ClosingModel(SequentialModel[tuple[tuple[int, ...], bool]]):
    """``put(x)`` and ``get()`` of a bounded queue; after ``close()`` no put succeeds, and gets take what is left."""

    name = "closing queue"
    operations = MappingProxyType({"put": 1, "get": 0, "close": 0})

    def init(self) -> tuple[tuple[int, ...], bool]:
        """Return the empty queue, open."""
        return (), False

    def apply(self, state: tuple[tuple[int, ...], bool], call: Call) -> tuple[object, tuple[tuple[int, ...], bool]]:
        """Return what a call must answer, and the state next."""
        items, closed = state
        if call.f == "close":
            return not closed, (items, True)
        if call.f == "put":
            value = call.arguments[0]
            assert isinstance(value, int)
            if closed:
                return _SHUT, state
            return (0, ((*items, value), closed)) if len(items) < CAPACITY else (_REFUSED, state)
        if items:
            return items[0], (items[1:], closed)
        return _SHUT if closed else _REFUSED, state


@kernel
def put(mem: Handle, ring: Word, thread: Word, value: Word) -> Word:
    """Put a value; return 0, or that the ring is full or shut."""
    outcome = try_put(mem, ring, np.uint64(value), _FOR_EVER, _0)
    if outcome == DONE:
        return 0
    return _REFUSED if outcome == REFUSED else _SHUT


@kernel
def get(mem: Handle, ring: Word, thread: Word) -> Word:
    """Get a value, or that the ring is empty, or empty and shut."""
    outcome, value = try_get(mem, ring, _FOR_EVER, _0)
    if outcome == DONE:
        return np.int64(value)
    return _REFUSED if outcome == REFUSED else _SHUT


@kernel
def close(mem: Handle, ring: Word, thread: Word) -> Flag:
    """Shut the ring down; return whether this call did."""
    return shut(mem, ring)


CLOSING_RING: Final = Target(
    "closing-ring", ClosingModel(), {"put": put, "get": get, "close": Operation(close, bool)}, new_ring
)


class SleepersModel(SequentialModel[bool]):
    """``wait()`` returns when ``post()`` has been called; nothing else is asked but that everybody returns."""

    name = "sleepers"
    operations = MappingProxyType({"wait": 0, "post": 0})
    silent = frozenset({"wait", "post"})

    def init(self) -> bool:
        """Return the only state."""
        return False

    def apply(self, state: bool, call: Call) -> tuple[object, bool]:
        """Return the state."""
        return None, state


@kernel
def wait(mem: Handle, flag: Word, thread: Word) -> None:
    """Return when the flag is set; sleep while the word of the sleepers does not change, as the kernel lets one."""
    while load(mem, flag) == _0:
        armed = arm(mem, flag + _NEWS)
        # In one order with `arm`, as the ring's look at its counters is: an acquire may come before it.
        if load_seq(mem, flag) != _0:
            return
        while fetch_or(mem, flag + _NEWS, _0) == armed:
            pause(mem)


@kernel
def post(mem: Handle, flag: Word, thread: Word) -> None:
    """Set the flag, and tell the sleepers."""
    store(mem, flag, _1)
    tell(mem, flag + _NEWS)


SLEEPERS: Final = Target("sleepers", SleepersModel(), {"wait": wait, "post": post})
