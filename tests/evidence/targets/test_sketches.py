"""Sketches under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

import random
from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import cas, load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels import count_min, hyperloglog, top
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.words import mix
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.estimates import COUNT_MIN, HYPERLOGLOG, MIN_HASH, TOP_K
from latchfree_evidence.targets.filters import (
    BLOOM,
    COUNTING_BLOOM,
    INVERSE_BLOOM,
    SCALABLE_BLOOM,
    SMALL,
    STABLE_BLOOM,
    slot_of,
)

STEP = 0x9E3779B97F4A7C15
ITEMS = range(1, 200)


def rows_of(item):
    """The counters of an item in the two rows of the target."""
    first = int(mix(np.uint64(item))) * STEP & (1 << 64) - 1
    second = first * STEP & (1 << 64) - 1
    return first * SMALL >> 64, second * SMALL >> 64


def other_of(item):
    """An item that shares the counter of the first row only."""
    return next(y for y in ITEMS if rows_of(y)[0] == rows_of(item)[0] and rows_of(y)[1] != rows_of(item)[1])


def beside(item):
    """Another item in the same slot."""
    return next(y for y in ITEMS if y != item and slot_of(y) == slot_of(item))


OTHER, RIVAL = other_of(1), beside(1)

SCENARIOS = [
    (BLOOM, "add(1) | add(2) | after: contains(1); contains(2)"),
    (BLOOM, "add(1); contains(1) | add(2); contains(2)"),
    (BLOOM, "init: add(1) | contains(1); contains(2) | add(2); contains(2)"),
    (HYPERLOGLOG, "add(1) | add(2) | add(3) | after: contains(1); contains(2); contains(3)"),
    (HYPERLOGLOG, "add(1); contains(1) | add(1); add(2); contains(2)"),
    (INVERSE_BLOOM, "add(1) | add(1)"),
    (INVERSE_BLOOM, f"add(1); add({RIVAL}) | add(1); add({RIVAL}) | add(1)"),
    (COUNT_MIN, "add(1) | add(1) | after: estimate(1)"),
    (COUNT_MIN, f"init: add({OTHER}) | add(1) | add(1) | after: estimate(1); estimate({OTHER})"),
    (COUNT_MIN, f"init: add({OTHER}) | add(1); estimate(1) | add(1) | after: estimate(1)"),
    (COUNT_MIN, f"init: add({OTHER}) | add(1) | add({OTHER}) | after: estimate(1); estimate({OTHER})"),
    (COUNTING_BLOOM, "add(1) | add(2) | after: contains(1); contains(2)"),
    (COUNTING_BLOOM, "init: add(1); add(2) | remove(1) | add(1); contains(2) | after: contains(1); contains(2)"),
    (COUNTING_BLOOM, "add(1); remove(1) | add(2); remove(2)"),
    (SCALABLE_BLOOM, "add(1) | add(2) | after: contains(1); contains(2)"),
    (SCALABLE_BLOOM, "add(1); contains(1) | add(1)"),
    (SCALABLE_BLOOM, "init: add(1) | contains(1) | add(2)"),
    (STABLE_BLOOM, "add(1) | add(2) | after: contains(1); contains(2)"),
    (MIN_HASH, "add(1) | add(2) | add(3) | after: contains(1); contains(2); contains(3)"),
    (TOP_K, "add(1) | forged"),
    (TOP_K, "init: add(1) | add(2) | forged"),
    (TOP_K, "init: add(1); add(2) | heal(1) | after: forged"),
    (BLOOM, "add(1) | merge(2) | after: contains(1); contains(2)"),
    (COUNT_MIN, "merge(1) | add(1) | after: estimate(1)"),
    (COUNT_MIN, "add(1) | add(1) | after: most()"),
    (COUNT_MIN, "add(1) | merge(1) | add(1) | after: estimate(1) | keys: plain"),
    (COUNTING_BLOOM, "init: fill(1); add(1); drain(1) | contains(1)"),
    (COUNTING_BLOOM, "init: add(1); add(2) | remove(1) | remove(1) | after: contains(2)"),
    (SCALABLE_BLOOM, "add(1) | add(2) | after: unfilled(); counted()"),
    (SCALABLE_BLOOM, "add_two(1, 2) | contains(1); contains(2)"),
    (SCALABLE_BLOOM, "add_two(1, 2) | add(3) | after: unfilled(); counted() | keys: twos"),
    (STABLE_BLOOM, "add(1) | add(2) | after: cells()"),
]


@pytest.mark.parametrize(("target", "scenario"), SCENARIOS, ids=lambda part: getattr(part, "name", part))
def test_every_interleaving_keeps_the_promise(target, scenario):
    result = explore(target, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


def test_random_scenarios():
    for name in ("bloom", "hyperloglog", "inverse-bloom"):
        assert explore(name, seed=5, schedules=2_000).verdict == "ok"


def test_writers_of_two_items_forge_none():
    """Too many interleavings for all of them."""
    assert explore(TOP_K, scenario="add(1) | add(2) | after: forged", seed=3, schedules=4_000).verdict == "ok"


# wrong on purpose, beside the mutants of the catalogue ----------------------------------------------------------------


@kernel
def seals_first(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """The seal of the item is written before the item."""
    h = mix(np.uint64(item))
    count_min.add_plainly(mem, record, h, np.uint64(1))
    bucket = top.bucket_of(mem, record, h)
    slot = top.held_at(mem, bucket, h)
    if slot == np.uint64(0):
        slot = top.least_of(mem, bucket)
        cas(mem, slot + top.HASH, load(mem, slot + top.HASH), h)
    length = np.uint64(16)
    store(mem, slot + top.SEAL, mix(mix(top.seal_start(h, length) ^ np.uint64(item)) ^ np.uint64(item)) | np.uint64(1))
    store(mem, slot + top.LENGTH, length)
    for k in range(2):
        store(mem, slot + top.BYTES + np.uint64(k), np.uint64(item))


@kernel
def raises_once(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """One try: who loses the race gives up."""
    h = mix(np.uint64(item))
    shift = (h & np.uint64(7)) << np.uint64(3)
    word = load(mem, record + FIRST_CELL)
    held = (word >> shift) & np.uint64(255)
    rank = hyperloglog.rank_of(h, np.uint64(3))
    if held < rank:
        cas(mem, record + FIRST_CELL, word, word + ((rank - held) << shift))


def test_one_try_is_too_few():
    target = replace(HYPERLOGLOG, operations={**HYPERLOGLOG.operations, "add": raises_once})
    result = explore(target, scenario="add(1) | add(2) | after: contains(1); contains(2)")
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
    assert explore(target, scenario="add(1); add(2) | after: contains(1); contains(2)").verdict == "ok"


def test_an_early_seal_of_what_was_meant_does_no_harm():
    """A seal that fits what the slot will hold fits nothing before; so mutant X22 seals what the slot holds then."""
    target = replace(TOP_K, operations={**TOP_K.operations, "add": seals_first})
    for scenario in ("init: add(2) | add(1) | forged", "add(1) | add(2) | after: forged"):
        assert explore(target, scenario=scenario, strategy="bounded", bound=2).verdict == "ok"


def test_random_scenarios_leave_out_what_only_given_ones_ask():
    for target in (BLOOM, COUNTING_BLOOM, SCALABLE_BLOOM, STABLE_BLOOM, COUNT_MIN, TOP_K):
        drawn = {each.f for seed in range(50) for each in target.generate(random.Random(seed)).operations}
        assert drawn == set(target.operations) - target.given, target.name
