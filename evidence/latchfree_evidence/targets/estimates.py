"""Sketches that estimate, as targets: small ones, whose items are numbers, and are put where the mixed number leads.

Example: ``add(1) | add(1) | after: estimate(1)`` must end with an estimate of at least 2.

Models say what a sketch promises: a register or a cell says of each item that was added that it may have been, an
estimate is never too low, and Top-K names no item that was not added.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import high_product, load, peek, poke
from latchfree.border.objects import room
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import (
    conservative,
    count_min,
    hyperloglog,
    minhash,
    slices,
    top,
)
from latchfree.sketches.kernels.record import CELLS, FIRST_CELL
from latchfree.sketches.kernels.rows import CONSERVATIVE, DEPTH, WIDTH, next_row
from latchfree.words import mix
from latchfree_evidence.targets.filters import PresenceModel
from latchfree_evidence.targets.given import GivenTarget
from latchfree_explore.target import Memory, Operation, Target
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_7 = np.uint64(7)
_BYTE = np.uint64(255)
_RECORD = np.uint64(64)

#: Counters in a row of the Count-Min sketch.
_SMALL = np.uint64(4)


class FloorModel(SequentialModel[frozenset[tuple[object, int]]]):
    """``add(x)`` adds one of an item; ``estimate(x)`` is at least the number of those added.

    ``merge(x)`` adds all that another sketch has, which is one of an item; ``slice(x)`` adds a slice of one item to a
    sketch that is not conservative. ``most()`` is the greatest sum of a row: at
    most all that was added.
    """

    name = "floor of counts"
    operations = MappingProxyType({"add": 1, "merge": 1, "slice": 1, "estimate": 1, "most": 0})
    silent = frozenset({"add", "merge", "slice"})

    def init(self) -> frozenset[tuple[object, int]]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[tuple[object, int]], call: Call) -> tuple[object, frozenset[tuple[object, int]]]:
        """Return the least result of the call, and the counts after it."""
        counts = dict(state)
        if call.f == "most":
            return sum(counts.values()), state
        item = call.arguments[0]
        if call.f == "estimate":
            return counts.get(item, 0), state
        counts[item] = counts.get(item, 0) + 1
        return None, frozenset(counts.items())

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a result may be: no estimate below the count, no row above all counts."""
        if not isinstance(call.result, int) or not isinstance(expected, int):
            return call.result == expected
        return call.result <= expected if call.f == "most" else call.result >= expected

    def reason(self, state: frozenset[tuple[object, int]], call: Call) -> str:
        """Return what was added, of the item if it is about one."""
        counts = dict(state)
        return f"{counts.get(call.arguments[0], 0) if call.arguments else sum(counts.values())} were added"


class NoForgeryModel(SequentialModel[frozenset[object]]):
    """``add(x)`` adds an item; ``forged()`` says how many sealed slots hold what was not added: none, ever.

    ``heal(x)`` adds an item while nobody else adds, and says whether its slot is sealed then.
    """

    name = "no forgery"
    operations = MappingProxyType({"add": 1, "heal": 1, "forged": 0})
    silent = frozenset({"add"})

    def init(self) -> frozenset[object]:
        """Nothing added."""
        return frozenset()

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what the call must have, and what was added after it."""
        if call.f == "forged":
            return 0, state
        return None if call.f == "add" else True, state | {call.arguments[0]}

    def reason(self, state: frozenset[object], call: Call) -> str:
        """Return what was added."""
        return f"{sorted(map(repr, state))} were added"


# HyperLogLog ----------------------------------------------------------------------------------------------------------


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


# Count-Min ------------------------------------------------------------------------------------------------------------


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


@kernel
def count_min_merge(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Merge with a sketch that has one of an item."""
    g, theirs = mix(np.uint64(item)), np.zeros(8, np.uint64)
    for k in range(2):
        g = next_row(g)
        theirs[np.uint64(k) * _SMALL + high_product(g, _SMALL)] = _1
    count_min.merge(mem, _0, record, _0, theirs, _1)


@kernel
def count_min_slice(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add a slice of one item."""
    hashes = np.empty(1, np.uint64)
    hashes[0] = mix(np.uint64(item))
    slices.add_slice(mem, _0, record, _0, hashes, np.empty(8, np.uint64))


@kernel
def count_min_most(mem: Handle, record: Word, thread: Word) -> Word:
    """Return the greatest sum of a row."""
    most = _0
    for k in range(2):
        total = _0
        for j in range(_SMALL):
            total += load(mem, record + FIRST_CELL + np.uint64(k) * _SMALL + np.uint64(j))
        most = max(most, total)
    return np.int64(most)


class CountMinTarget(GivenTarget):
    """A Count-Min sketch, updated conservatively unless the scenario says ``keys: plain``."""

    def prepare(self, threads: int, keys: str) -> Memory:
        """Return memory with an empty sketch."""
        made = super().prepare(threads, keys)
        made.words[int(_RECORD + CONSERVATIVE)] = keys != "plain"
        return made


# MinHash --------------------------------------------------------------------------------------------------------------


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


# Top-K ----------------------------------------------------------------------------------------------------------------


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
    if top.wants(mem, record, h, count_min.add_plainly(mem, record, h, _1)):
        install(mem, record, h, np.uint64(item))


@kernel
def install(mem: Handle, record: Word, h: Word, item: Word) -> None:
    """Write the two words of an item."""
    given = np.empty(2, np.uint64)
    given[0] = item
    given[1] = item
    top.install(mem, record, h, np.uint64(16), given)


@kernel
def top_heal(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """Add an item; return whether its slot is sealed."""
    top_add(mem, record, thread, item)
    h = mix(np.uint64(item))
    slot = top.held_at(mem, top.bucket_of(mem, record, h), h)
    return slot != _0 and top.is_sealed(mem, slot, h)


@kernel
def top_forged(mem: Handle, record: Word, thread: Word) -> Word:
    """Return how many sealed slots hold bytes that are not those of the slot's hash."""
    bucket = top.bucket_of(mem, record, _1)
    words = room(2)
    slot = bucket
    h, seal = load(mem, slot + top.HASH), load(mem, slot + top.SEAL)
    length = load(mem, slot + top.LENGTH)
    made = top.seal_start(h, length)
    for k in range(top.words_of(length)):
        word = load(mem, slot + top.BYTES + np.uint64(k))
        poke(words, np.uint64(k & 1), word)
        made = mix(made ^ word)
    if h == _0 or seal != made | _1:
        return 0
    fits = length == np.uint64(16) and h == mix(peek(words, _0)) and peek(words, _0) == peek(words, _1)
    return 0 if fits else 1


HYPERLOGLOG: Final = Target(
    "hyperloglog",
    PresenceModel(),
    {"add": hyperloglog_add, "contains": Operation(hyperloglog_contains, bool)},
    new_hyperloglog,
)
COUNT_MIN: Final = CountMinTarget(
    "count-min",
    FloorModel(),
    {
        "add": count_min_add,
        "merge": count_min_merge,
        "slice": count_min_slice,
        "estimate": count_min_estimate,
        "most": count_min_most,
    },
    new_count_min,
    layouts=("conservative", "plain"),
    given=frozenset({"merge", "slice", "most"}),
)
MIN_HASH: Final = Target(
    "minhash", PresenceModel(), {"add": minhash_add, "contains": Operation(minhash_contains, bool)}, new_minhash
)
TOP_K: Final = GivenTarget(
    "top-k",
    NoForgeryModel(),
    {"add": top_add, "heal": Operation(top_heal, bool), "forged": top_forged},
    new_top,
    given=frozenset({"heal"}),
)
