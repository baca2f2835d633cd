"""Sketches as targets: small ones, whose items are numbers, and are put where the mixed number leads.

Example: ``add(1) | add(1) | after: estimate(1)`` must end with an estimate of at least 2.

Models say what a sketch promises. An item that was added is there; one that was not may be there, too. An estimate is
never too low. Both are promises about what happened before a call, so a history is judged as one of a linearizable
object that may answer more. The inverse Bloom filter promises more: its answers are those of a table.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import load, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import bloom, conservative, count_min, hyperloglog, inverse
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.sketches.kernels.rows import CONSERVATIVE, DEPTH, WIDTH
from latchfree.words import mix
from latchfree_explore.target import Operation, Target
from latchfree_model import Call, SequentialModel

_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_BYTE = np.uint64(255)
_RECORD = np.uint64(64)

#: Counters in a row of the Count-Min sketch, and slots of the inverse filter.
SMALL: Final = 4
_SMALL = np.uint64(SMALL)


class PresenceModel(SequentialModel[frozenset[object]]):
    """``add(x)`` adds an item; ``contains(x)`` says True for what was added, and anything for what was not."""

    name = "presence"
    operations = MappingProxyType({"add": 1, "contains": 1})
    silent = frozenset({"add"})

    def init(self) -> frozenset[object]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        if call.f == "add":
            return None, state | {call.arguments[0]}
        return call.arguments[0] in state, state

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: True always, as a false positive."""
        return call.result is True or call.result == expected

    def reason(self, state: frozenset[object], call: Call) -> str:
        """Return what was added."""
        return f"{sorted(map(repr, state))} were added"


class FloorModel(SequentialModel[frozenset[tuple[object, int]]]):
    """``add(x)`` adds one of an item; ``estimate(x)`` is at least the number of those added."""

    name = "floor of counts"
    operations = MappingProxyType({"add": 1, "estimate": 1})
    silent = frozenset({"add"})

    def init(self) -> frozenset[tuple[object, int]]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[tuple[object, int]], call: Call) -> tuple[object, frozenset[tuple[object, int]]]:
        """Return the least result of the call, and the counts after it."""
        counts = dict(state)
        item = call.arguments[0]
        if call.f == "estimate":
            return counts.get(item, 0), state
        counts[item] = counts.get(item, 0) + 1
        return None, frozenset(counts.items())

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: no estimate below the count."""
        return isinstance(call.result, int) and isinstance(expected, int) and call.result >= expected

    def reason(self, state: frozenset[tuple[object, int]], call: Call) -> str:
        """Return what was added of the item."""
        return f"{dict(state).get(call.arguments[0], 0)} were added"


@cache
def slot_of(item: int) -> int:
    """Return the slot of an item in the inverse filter."""
    return int(mix(np.uint64(item))) * SMALL >> 64


class TableModel(SequentialModel[frozenset[tuple[int, object]]]):
    """``add(x)`` puts an item into its slot, and says whether it was there."""

    name = "inverse Bloom filter"
    operations = MappingProxyType({"add": 1})

    def init(self) -> frozenset[tuple[int, object]]:
        """Nothing in any slot."""
        return frozenset()

    def apply(self, state: frozenset[tuple[int, object]], call: Call) -> tuple[object, frozenset[tuple[int, object]]]:
        """Return whether the item is in its slot, and the table after."""
        item = call.arguments[0]
        assert isinstance(item, int)
        table = dict(state)
        seen = table.get(slot_of(item)) == item
        table[slot_of(item)] = item
        return seen, frozenset(table.items())

    def reason(self, state: frozenset[tuple[int, object]], call: Call) -> str:
        """Return what was in the slots."""
        return f"the table held {sorted(dict(state).items())}"


# Bloom -------------------------------------------------------------------------------------------------------------


@kernel
def new_bloom(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of one block of four words, of which an item sets a bit each."""
    poke(mem, _RECORD + bloom.BLOCKS, _1)
    poke(mem, _RECORD + bloom.WORDS, _SMALL)
    poke(mem, _RECORD + bloom.BITS, _1)
    return _RECORD


@kernel
def bloom_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    bloom.add(mem, record, mix(np.uint64(item)))


@kernel
def bloom_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return bloom.contains(mem, record, mix(np.uint64(item)))


# HyperLogLog -------------------------------------------------------------------------------------------------------


@kernel
def new_hyperloglog(mem: Handle, threads: Word) -> Word:
    """Make an empty sketch of one word of eight registers."""
    poke(mem, _RECORD + hyperloglog.PRECISION, _3)
    return _RECORD


@kernel
def hyperloglog_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    hyperloglog.add(mem, record, mix(np.uint64(item)))


@kernel
def hyperloglog_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether the register of an item is as high as the item's rank."""
    h = mix(np.uint64(item))
    held = load(mem, record + FIRST_CELL) >> ((h & _7) << _3)
    return held & _BYTE >= hyperloglog.rank_of(h, peek(mem, record + hyperloglog.PRECISION))


# Count-Min ---------------------------------------------------------------------------------------------------------


@kernel
def new_count_min(mem: Handle, threads: Word) -> Word:
    """Make an empty sketch of two rows of four counters, updated conservatively."""
    poke(mem, _RECORD + WIDTH, _SMALL)
    poke(mem, _RECORD + DEPTH, np.uint64(2))
    poke(mem, _RECORD + CONSERVATIVE, _1)
    return _RECORD


@kernel
def count_min_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add one of an item."""
    conservative.announce(mem, record, _1)
    count_min.add(mem, record, mix(np.uint64(item)), _1)
    conservative.withdraw(mem, record, _1)


@kernel
def count_min_estimate(mem: Handle, record: Word, thread: Word, item: Word) -> Word:
    """Return the estimate of an item."""
    return np.int64(count_min.estimate(mem, record, mix(np.uint64(item))))


# the inverse Bloom filter ------------------------------------------------------------------------------------------


@kernel
def new_inverse(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of four slots."""
    poke(mem, _RECORD + inverse.SLOTS, _SMALL)
    inverse.empty(mem, _RECORD)
    return _RECORD


@kernel
def inverse_add(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Add an item; return whether it was seen."""
    return inverse.add(mem, record, mix(np.uint64(item)))


BLOOM: Final = Target(
    "bloom", PresenceModel(), {"add": bloom_add, "contains": Operation(bloom_contains, bool)}, new_bloom
)
HYPERLOGLOG: Final = Target(
    "hyperloglog",
    PresenceModel(),
    {"add": hyperloglog_add, "contains": Operation(hyperloglog_contains, bool)},
    new_hyperloglog,
)
COUNT_MIN: Final = Target(
    "count-min", FloorModel(), {"add": count_min_add, "estimate": count_min_estimate}, new_count_min
)
INVERSE_BLOOM: Final = Target("inverse-bloom", TableModel(), {"add": Operation(inverse_add, bool)}, new_inverse)
