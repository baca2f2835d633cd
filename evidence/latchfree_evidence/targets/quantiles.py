"""KLL as a target: two lanes, with room for two new items each.

Example: ``add(1); add(2) | count | after: count`` must end with 2, and the other count is 0, 1 or 2.

Items are numbers from 1 on, and memory that nobody wrote holds 0: a reader that finds a 0 among the items says -1.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import pause, poke
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels import kll, lanes
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree_explore.target import Target
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_LOW = np.uint64((1 << 32) - 1)
_RECORD = np.uint64(64)
_LANES: Final = 2


class CountedModel(SequentialModel[int]):
    """``add(x)`` adds an item; ``count()`` says how many were added."""

    name = "counted items"
    operations = MappingProxyType({"add": 1, "count": 0})
    silent = frozenset({"add"})

    def init(self) -> int:
        """Nothing added."""
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return what the call must have, and how many were added after it."""
        return (None, state + 1) if call.f == "add" else (state, state)

    def reason(self, state: int, call: Call) -> str:
        """Return how many were added."""
        return f"{state} were added"


@kernel
def new_kll(mem: Handle, threads: Word) -> Word:
    """Make an empty sketch."""
    poke(mem, _RECORD + lanes.ROOM, _2)
    poke(mem, _RECORD + lanes.LANES, np.uint64(_LANES))
    return _RECORD


@kernel
def kll_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item, in a lane of one's own; a third writer waits for one."""
    lane = lanes.claim(mem, _0, record, _1)
    while lane == _0:
        pause(mem)
        lane = lanes.claim(mem, _0, record, _1)
    kll.add(mem, record, lane, np.uint64(item))
    lanes.release(mem, lane)


@kernel
def count_in(words: Array) -> Word:
    """Return for how many items those of a lane stand that was read; -1 if one of them is 0."""
    fresh, at = words[_0] & _LOW, _1 + lanes.COPY_HEAD + _2
    count = np.int64(fresh)
    for k in range(fresh):
        if words[_1 + lanes.COPY_HEAD + np.uint64(k)] == _0:
            return -1
    for h in range(1, words[_1 + lanes.LEVELS] + _1):
        size = words[_1 + lanes.SIZES + np.uint64(h)]
        count += np.int64(size << np.uint64(h))
        for k in range(size):
            if words[at + np.uint64(k)] == _0:
                return -1
        at += size
    return count


@kernel
def kll_count(mem: Handle, record: Word, thread: Word) -> Word:
    """Return for how many items those of all lanes stand; -1 if one of them is 0."""
    words, total = np.empty(1 + int(lanes.copy_words(_2)), np.uint64), np.int64(0)
    for k in range(_LANES):
        lane = record + FIRST_CELL + np.uint64(k) * lanes.lane_words(_2)
        lanes.read_lane(mem, lane, _2, words, _0)
        count = count_in(words)
        if count < 0:
            return -1
        total += count
    return total


KLL: Final = Target("kll", CountedModel(), {"add": kll_add, "count": kll_count}, new_kll)
