"""Counting, scalable and stable Bloom filters, MinHash and Top-K as targets: small ones, whose items are numbers.

Example: ``add(1); remove(1) | add(2) | after: contains(2)`` must end with True.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import load, peek, poke
from latchfree.border.objects import room
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import count_min, counting, minhash, scalable, stable, top
from latchfree.sketches.kernels.record import CELLS, FIRST_CELL
from latchfree.sketches.kernels.rows import DEPTH, WIDTH
from latchfree.words import mix
from latchfree_evidence.targets.sketches import PresenceModel
from latchfree_explore.target import Operation, Target
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_4 = np.uint64(4)
_8 = np.uint64(8)
_RECORD = np.uint64(64)


class BagModel(SequentialModel[frozenset[tuple[object, int]]]):
    """``add(x)`` and ``remove(x)``; ``contains(x)`` says True for what is there. Any True may be a false positive.

    A remove of what is there must say True; of what is not there it may do as it likes, which is no history to judge.
    """

    name = "bag"
    operations = MappingProxyType({"add": 1, "remove": 1, "contains": 1})
    silent = frozenset({"add"})

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
        counts[item] = max(0, there + (1 if call.f == "add" else -1))
        return there > 0, frozenset(counts.items())

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: True always, as a false positive."""
        return call.result is True or call.result == expected

    def reason(self, state: frozenset[tuple[object, int]], call: Call) -> str:
        """Return what was there."""
        return f"there were {sorted(dict(state).items(), key=repr)}"


# counting ------------------------------------------------------------------------------------------------------------


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
def counting_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return counting.count(mem, record, mix(np.uint64(item))) != _0


# scalable ------------------------------------------------------------------------------------------------------------

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
def scalable_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return scalable.contains(mem, record, mix(np.uint64(item)))


@kernel
def scalable_last(mem: Handle, record: Word, thread: Word) -> Word:
    """Return the number of the last layer in use."""
    return np.int64(load(mem, record + scalable.LAST))


# stable --------------------------------------------------------------------------------------------------------------


@kernel
def new_stable(mem: Handle, threads: Word) -> Word:
    """Make an empty filter of two words of cells, of which an add lowers two: three adds fade no item."""
    poke(mem, _RECORD + stable.SLOTS, np.uint64(64))
    poke(mem, _RECORD + stable.HASHES, _2)
    poke(mem, _RECORD + stable.FADING, _2)
    return _RECORD


@kernel
def stable_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    stable.add(mem, record, mix(np.uint64(item)))


@kernel
def stable_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether an item may be there."""
    return stable.contains(mem, record, mix(np.uint64(item)))


# MinHash -------------------------------------------------------------------------------------------------------------


@kernel
def new_minhash(mem: Handle, threads: Word) -> Word:
    """Make an empty sketch of two cells."""
    poke(mem, _RECORD + CELLS, _2)
    return _RECORD


@kernel
def minhash_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item."""
    minhash.add(mem, record, mix(np.uint64(item)))


@kernel
def minhash_contains(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Return whether no cell is below the item's."""
    h = mix(np.uint64(item))
    for k in range(peek(mem, record + CELLS)):
        h += minhash.STEP
        if load(mem, record + FIRST_CELL + np.uint64(k)) < mix(h) | _1:
            return False
    return True


# Top-K ---------------------------------------------------------------------------------------------------------------


class NoForgeryModel(SequentialModel[frozenset[object]]):
    """``add(x)`` adds an item; ``forged()`` says how many sealed slots hold what was not added: none, ever."""

    name = "no forgery"
    operations = MappingProxyType({"add": 1, "forged": 0})
    silent = frozenset({"add"})

    def init(self) -> frozenset[object]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        return (None, state | {call.arguments[0]}) if call.f == "add" else (0, state)

    def reason(self, state: frozenset[object], call: Call) -> str:
        """Return what was added."""
        return f"{sorted(map(repr, state))} were added"


@kernel
def new_top(mem: Handle, threads: Word) -> Word:
    """Make an empty sketch of one row of one counter, and one bucket, of which three slots are taken for good."""
    poke(mem, _RECORD + WIDTH, _1)
    poke(mem, _RECORD + DEPTH, _1)
    poke(mem, _RECORD + top.BUCKETS, _1)
    bucket = top.bucket_of(mem, _RECORD, _1)
    for k in range(1, 4):
        slot = bucket + np.uint64(k) * top.SLOT_WORDS
        poke(mem, slot + top.HASH, np.uint64(k))
        poke(mem, slot + top.COUNT, ~_0)
    return _RECORD


@kernel
def top_add(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add an item of two words: its number, twice."""
    h = mix(np.uint64(item))
    count_min.add_plainly(mem, record, h, _1)
    if top.wants(mem, record, h):
        install(mem, record, h, np.uint64(item))


@kernel
def install(mem: Handle, record: Word, h: Word, item: Word) -> None:
    """Write the two words of an item."""
    given = np.empty(2, np.uint64)
    given[0] = item
    given[1] = item
    top.install(mem, record, h, np.uint64(16), given)


@kernel
def top_forged(mem: Handle, record: Word, thread: Word) -> Word:
    """Return how many sealed slots hold bytes that are not those of the slot's hash."""
    bucket = top.bucket_of(mem, record, _1)
    words = room(2)
    slot = bucket
    h, seal = load(mem, slot + top.HASH), load(mem, slot + top.SEAL)
    length = load(mem, slot + top.LENGTH)
    made = mix(h ^ (length * top.STEP))
    for k in range(top.words_of(length)):
        word = load(mem, slot + top.BYTES + np.uint64(k))
        poke(words, np.uint64(k & 1), word)
        made = mix(made ^ word)
    if h == _0 or seal != made | _1:
        return 0
    fits = length == np.uint64(16) and h == mix(peek(words, _0)) and peek(words, _0) == peek(words, _1)
    return 0 if fits else 1


COUNTING_BLOOM: Final = Target(
    "counting-bloom",
    BagModel(),
    {"add": counting_add, "remove": Operation(counting_remove, bool), "contains": Operation(counting_contains, bool)},
    new_counting,
)
SCALABLE_BLOOM: Final = Target(
    "scalable-bloom",
    PresenceModel(),
    {"add": scalable_add, "contains": Operation(scalable_contains, bool)},
    new_scalable,
)
STABLE_BLOOM: Final = Target(
    "stable-bloom", PresenceModel(), {"add": stable_add, "contains": Operation(stable_contains, bool)}, new_stable
)
MIN_HASH: Final = Target(
    "minhash", PresenceModel(), {"add": minhash_add, "contains": Operation(minhash_contains, bool)}, new_minhash
)
TOP_K: Final = Target("top-k", NoForgeryModel(), {"add": top_add, "forged": top_forged}, new_top)
