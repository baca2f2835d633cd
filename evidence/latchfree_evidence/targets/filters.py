"""Filters as targets: small ones, whose items are numbers, and are put where the mixed number leads.

Example: ``add(1); remove(1) | add(2) | after: contains(2)`` must end with True.

Models say what a filter promises. An item that was added is there; one that was not may be there, too. This is a
promise about what happened before a call, so a history is judged as one of a linearizable object that may answer True
more often. The inverse Bloom filter promises more: its answers are those of a table.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import load, peek, poke, popcount
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import (
    bloom,
    counting,
    inverse,
    scalable,
    stable,
)
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.words import mix
from latchfree_evidence.targets.given import GivenTarget
from latchfree_explore.target import Memory, Operation, Target
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_4 = np.uint64(4)
_6 = np.uint64(6)
_8 = np.uint64(8)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_LOW = np.uint64(0x5555555555555555)
_RECORD = np.uint64(64)

#: Slots of the inverse filter, and words of a block of the Bloom filter.
SMALL: Final = 4
_SMALL = np.uint64(SMALL)
#: Cells of an item in the stable filter.
HASHES: Final = 2


class PresenceModel(SequentialModel[frozenset[object]]):
    """``add(x)`` adds an item; ``contains(x)`` says True for what was added, and anything for what was not.

    ``merge(x)`` adds all that another filter has, which is one item.
    """

    name = "presence"
    operations = MappingProxyType({"add": 1, "merge": 1, "contains": 1})
    silent = frozenset({"add", "merge"})

    def init(self) -> frozenset[object]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        if call.f in self.silent:
            return None, state | {call.arguments[0]}
        return call.arguments[0] in state, state

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: True always, as a false positive."""
        return call.result is True or call.result == expected

    def reason(self, state: frozenset[object], call: Call) -> str:
        """Return what was added."""
        return f"{sorted(map(repr, state))} were added"


#: What operations of a bag add to the count of an item.
_CHANGES: Final = {"add": 1, "remove": -1, "fill": int(counting.TOP), "drain": -int(counting.TOP)}


class LayersModel(PresenceModel):
    """Of a filter of layers also: ``unfilled()`` counts layers before the last with too few items; there is none.

    ``add_two(x, y)`` adds two items by one call, which may count them together.
    ``counted()`` says how many items the layers have counted: no fewer than were added.
    """

    name = "layers"
    operations = MappingProxyType({"add": 1, "add_two": 2, "contains": 1, "unfilled": 0, "counted": 0})
    silent = frozenset({"add", "add_two"})

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        if call.f == "unfilled":
            return 0, state
        if call.f == "add_two":
            return None, state | set(call.arguments)
        return (len(state), state) if call.f == "counted" else super().apply(state, call)

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: more may be counted, as an item that two add at a time is counted twice."""
        if call.f == "counted":
            return isinstance(call.result, int) and isinstance(expected, int) and call.result >= expected
        return super().matches(call, expected)


class FadingModel(PresenceModel):
    """Of a filter that fades also: ``cells()`` says how many cells are not 0: no more than the items have set."""

    name = "fading"
    operations = MappingProxyType({"add": 1, "contains": 1, "cells": 0})

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        return (HASHES * len(state), state) if call.f == "cells" else super().apply(state, call)

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: items may share cells, and cells fade."""
        if call.f == "cells":
            return isinstance(call.result, int) and isinstance(expected, int) and call.result <= expected
        return super().matches(call, expected)


class BagModel(SequentialModel[frozenset[tuple[object, int]]]):
    """``add(x)`` and ``remove(x)``; ``contains(x)`` says True for what is there. Any True may be a false positive.

    A remove of what is there must say True; of what is not there it may do as it likes, which is no history to judge.
    ``fill(x)`` adds an item, and ``drain(x)`` removes it, as often as a counter counts.
    """

    name = "bag"
    operations = MappingProxyType({"add": 1, "remove": 1, "fill": 1, "drain": 1, "contains": 1})
    silent = frozenset({"add", "fill", "drain"})

    def init(self) -> frozenset[tuple[object, int]]:
        """Nothing there."""
        return frozenset()

    def apply(self, state: frozenset[tuple[object, int]], call: Call) -> tuple[object, frozenset[tuple[object, int]]]:
        """Return what the call must have, and what is there after it."""
        counts = dict(state)
        item = call.arguments[0]
        there = counts.get(item, 0)
        if call.f == "contains":
            return there > 0, state
        counts[item] = max(0, there + _CHANGES[call.f])
        return None if call.f in self.silent else there > 0, frozenset(counts.items())

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: True always, as a false positive."""
        return call.result is True or call.result == expected

    def reason(self, state: frozenset[tuple[object, int]], call: Call) -> str:
        """Return what was there."""
        return f"there were {sorted(dict(state).items(), key=repr)}"


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


# Bloom ----------------------------------------------------------------------------------------------------------------


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


@kernel
def bloom_merge(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Merge with a filter that has one item."""
    h = mix(np.uint64(item))
    theirs = np.zeros(SMALL, np.uint64)
    g = mix(h + _STEP)
    for k in range(_SMALL):
        theirs[k] = bloom.mask_of(g, _1)
        g >>= _6
    bloom.merge(mem, _0, record, _0, theirs, _1)


# counting -------------------------------------------------------------------------------------------------------------


@kernel
def new_counting(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of two slices of eight counters."""
    poke(mem, _RECORD + counting.WIDTH, _8)
    poke(mem, _RECORD + counting.SLICES, _2)
    return _RECORD


@kernel
def counting_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    counting.add(mem, record, mix(np.uint64(item)))


@kernel
def counting_remove(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Remove an item; return whether it was there."""
    return counting.remove(mem, record, mix(np.uint64(item)))


@kernel
def counting_fill(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item as often as a counter counts."""
    for _ in range(counting.TOP):
        counting.add(mem, record, mix(np.uint64(item)))


@kernel
def counting_drain(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Remove an item as often as a counter counts."""
    for _ in range(counting.TOP):
        counting.remove(mem, record, mix(np.uint64(item)))


@kernel
def counting_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return counting.count(mem, record, mix(np.uint64(item))) != _0


# scalable -------------------------------------------------------------------------------------------------------------


#: Layers of one item each, of one block of four words.
LAYERS: Final = 3
_LAYERS = np.uint64(LAYERS)
_HEAD = scalable.FIRST_LAYER - FIRST_CELL + scalable.MOST_LAYERS * scalable.LAYER_WORDS


@kernel
def new_scalable(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of three layers for an item each."""
    for k in range(LAYERS):
        layer = scalable.layer_at(_RECORD, np.uint64(k))
        poke(mem, layer + scalable.BITS_AT, _HEAD + np.uint64(k) * _4)
        poke(mem, layer + scalable.BLOCKS, _1)
        poke(mem, layer + scalable.WORDS, _4)
        poke(mem, layer + scalable.BITS, _1)
        poke(mem, layer + scalable.ITEMS, _1)
        poke(mem, layer + scalable.LAYERS, _LAYERS)
    return _RECORD


@kernel
def scalable_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    scalable.add(mem, record, mix(np.uint64(item)))


@kernel
def scalable_add_two(mem: Handle, record: Word, thread: Word, one: Word, other: Word) -> None:
    """Add two items; a layer that is for two counts them together."""
    hashes = np.empty(2, np.uint64)
    hashes[0] = mix(np.uint64(one))
    hashes[1] = mix(np.uint64(other))
    scalable.add_all(mem, record, hashes, _0)


@kernel
def scalable_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return scalable.contains(mem, record, mix(np.uint64(item)))


@kernel
def scalable_unfilled(mem: Handle, record: Word, thread: Word) -> Word:
    """Return how many layers before the last one in use have counted fewer items than they are for."""
    found = 0
    for k in range(load(mem, record + scalable.LAST)):
        layer = scalable.layer_at(record, np.uint64(k))
        if load(mem, layer + scalable.COUNT) < peek(mem, layer + scalable.ITEMS):
            found += 1
    return found


@kernel
def scalable_counted(mem: Handle, record: Word, thread: Word) -> Word:
    """Return how many items all layers have counted."""
    found = _0
    for k in range(LAYERS):
        found += load(mem, scalable.layer_at(record, np.uint64(k)) + scalable.COUNT)
    return np.int64(found)


class ScalableTarget(GivenTarget):
    """A filter whose layers are for an item each, or for two if the scenario says ``keys: twos``."""

    def prepare(self, threads: int, keys: str) -> Memory:
        """Return memory with an empty filter."""
        made = super().prepare(threads, keys)
        for k in range(LAYERS):
            made.words[int(scalable.layer_at(_RECORD, np.uint64(k)) + scalable.ITEMS)] = 2 if keys == "twos" else 1
        return made


# stable ---------------------------------------------------------------------------------------------------------------


@kernel
def new_stable(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of two words of cells, of which an add lowers two: three adds fade no item."""
    poke(mem, _RECORD + stable.SLOTS, np.uint64(64))
    poke(mem, _RECORD + stable.HASHES, np.uint64(HASHES))
    poke(mem, _RECORD + stable.FADING, _2)
    return _RECORD


@kernel
def stable_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    stable.add(mem, record, mix(np.uint64(item)), stable.take_tickets(mem, record, _1))


@kernel
def stable_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return stable.contains(mem, record, mix(np.uint64(item)))


@kernel
def stable_cells(mem: Handle, record: Word, thread: Word) -> Word:
    """Return how many cells are not 0."""
    found = _0
    for k in range(2):
        word = load(mem, record + FIRST_CELL + np.uint64(k))
        found += popcount((word | (word >> _1)) & _LOW)
    return np.int64(found)


# the inverse Bloom filter ---------------------------------------------------------------------------------------------


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


BLOOM: Final = GivenTarget(
    "bloom",
    PresenceModel(),
    {"add": bloom_add, "merge": bloom_merge, "contains": Operation(bloom_contains, bool)},
    new_bloom,
    given=frozenset({"merge"}),
)
COUNTING_BLOOM: Final = GivenTarget(
    "counting-bloom",
    BagModel(),
    {
        "add": counting_add,
        "remove": Operation(counting_remove, bool),
        "fill": counting_fill,
        "drain": counting_drain,
        "contains": Operation(counting_contains, bool),
    },
    new_counting,
    given=frozenset({"fill", "drain"}),
)
SCALABLE_BLOOM: Final = ScalableTarget(
    "scalable-bloom",
    LayersModel(),
    {
        "add": scalable_add,
        "add_two": scalable_add_two,
        "contains": Operation(scalable_contains, bool),
        "unfilled": scalable_unfilled,
        "counted": scalable_counted,
    },
    new_scalable,
    layouts=("ones", "twos"),
    given=frozenset({"add_two", "unfilled", "counted"}),
)
STABLE_BLOOM: Final = GivenTarget(
    "stable-bloom",
    FadingModel(),
    {"add": stable_add, "contains": Operation(stable_contains, bool), "cells": stable_cells},
    new_stable,
    given=frozenset({"cells"}),
)
INVERSE_BLOOM: Final = Target("inverse-bloom", TableModel(), {"add": Operation(inverse_add, bool)}, new_inverse)
