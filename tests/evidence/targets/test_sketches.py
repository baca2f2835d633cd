"""Sketches under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import cas, load, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import bloom, count_min, counting, hyperloglog, inverse, scalable, stable, top
from latchfree.sketches.kernels.record import ANNOUNCED, FIRST_CELL
from latchfree.words import mix
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.estimates import COUNT_MIN, HYPERLOGLOG, MIN_HASH, TOP_K, new_count_min
from latchfree_evidence.targets.filters import (
    BLOOM,
    COUNTING_BLOOM,
    INVERSE_BLOOM,
    SCALABLE_BLOOM,
    SMALL,
    STABLE_BLOOM,
    slot_of,
)
from latchfree_explore.target import Operation

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


# wrong on purpose ----------------------------------------------------------------------------------------------------


@kernel
def adds_bits_in_two_steps(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """A load and a store for the atomic or: bits that others set in between are lost."""
    h = mix(np.uint64(item))
    at, g = bloom.block_of(mem, record, h), mix(h + np.uint64(STEP))
    for k in range(np.uint64(SMALL)):
        store(mem, at + np.uint64(k), load(mem, at + np.uint64(k)) | bloom.mask_of(g, np.uint64(1)))
        g >>= np.uint64(6)


@kernel
def raises_in_two_steps(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """A store of the whole word: registers beside it fall back."""
    h = mix(np.uint64(item))
    shift = (h & np.uint64(7)) << np.uint64(3)
    word = load(mem, record + FIRST_CELL)
    held = (word >> shift) & np.uint64(255)
    rank = hyperloglog.rank_of(h, np.uint64(3))
    if held < rank:
        store(mem, record + FIRST_CELL, word + ((rank - held) << shift))


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


@kernel
def looks_and_then_writes(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """The slot is read and then written: one item is new twice."""
    h = mix(np.uint64(item))
    at = inverse.slot_of(mem, record, h)
    seen = load(mem, at) == h
    store(mem, at, h)
    return seen


@kernel
def nobody_else_is_announced(mem: Handle, threads: Word) -> Word:
    """The usual conservative update: one is announced for ever, and it is always one's own."""
    record = new_count_min(mem, threads)
    poke(mem, record + ANNOUNCED, np.uint64(1))
    return record


@kernel
def adds_unannounced(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """Add as if nobody else did."""
    count_min.add(mem, record, mix(np.uint64(item)), np.uint64(1))


@kernel
def counts_in_two_steps(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X1: a store for the compare-and-swap: counters beside it fall back."""
    h, width = mix(np.uint64(item)), peek(mem, record + counting.WIDTH)
    for k in range(peek(mem, record + counting.SLICES)):
        at = counting.counter_of(h, np.uint64(k), width)
        word = load(mem, record + FIRST_CELL + (at >> np.uint64(3)))
        store(
            mem,
            record + FIRST_CELL + (at >> np.uint64(3)),
            word + (np.uint64(1) << ((at & np.uint64(7)) << np.uint64(3))),
        )


@kernel
def looks_at_the_last_layer(mem: Handle, record: Word, thread: Word, item: Word) -> Flag:
    """X10: only the layer that takes what is new."""
    layer = scalable.layer_at(record, load(mem, record + scalable.LAST))
    return scalable.in_layer(mem, record, layer, mix(np.uint64(item)))


@kernel
def sets_in_two_steps(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X4: a load and a store for the atomic or: cells that others have set are lost."""
    h, slots = mix(np.uint64(item)), peek(mem, record + stable.SLOTS)
    for _ in range(peek(mem, record + stable.HASHES)):
        h += np.uint64(0x9E3779B97F4A7C15)
        cell = np.uint64(stable.high_product(mix(h), slots))
        at = record + FIRST_CELL + (cell >> np.uint64(5))
        store(mem, at, load(mem, at) | (stable.TOP << ((cell & np.uint64(31)) << np.uint64(1))))


@kernel
def overwrites_the_greater(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """A load and a store for the atomic maximum: a greater hash is overwritten."""
    h = mix(np.uint64(item))
    for k in range(2):
        h += np.uint64(0x9E3779B97F4A7C15)
        at = record + FIRST_CELL + np.uint64(k)
        if load(mem, at) < mix(h) | np.uint64(1):
            store(mem, at, mix(h) | np.uint64(1))


@kernel
def seals_the_bytes_alone(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X9: the seal is made of the hash that is in the slot."""
    h, bucket = mix(np.uint64(item)), top.bucket_of(mem, record, np.uint64(1))
    store(mem, bucket + top.HASH, h)
    store(mem, bucket + top.LENGTH, np.uint64(16))
    for k in range(2):
        store(mem, bucket + top.BYTES + np.uint64(k), np.uint64(item))
    store(mem, bucket + top.SEAL, top.seal_of(mem, bucket, load(mem, bucket + top.HASH)))


WRONG = {
    "bits": (BLOOM, "add", adds_bits_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "registers": (HYPERLOGLOG, "add", raises_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "one try": (HYPERLOGLOG, "add", raises_once, "add(1) | add(2) | after: contains(1); contains(2)"),
    "slots": (INVERSE_BLOOM, "add", looks_and_then_writes, "add(1) | add(1)"),
    "counters": (COUNT_MIN, "add", adds_unannounced, f"init: add({OTHER}) | add(1) | add(1) | after: estimate(1)"),
    "X1": (COUNTING_BLOOM, "add", counts_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X4": (STABLE_BLOOM, "add", sets_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X10": (SCALABLE_BLOOM, "contains", looks_at_the_last_layer, "init: add(1) | contains(1) | add(2)"),
    "maximum": (MIN_HASH, "add", overwrites_the_greater, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X9": (TOP_K, "add", seals_the_bytes_alone, "add(1) | add(2) | after: forged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    target, f, wrong, scenario = WRONG[name]
    answers = name == "slots" or f == "contains"
    operations = {**target.operations, f: Operation(wrong, bool) if answers else wrong}
    setup = nobody_else_is_announced if name == "counters" else target.setup
    result = explore(replace(target, operations=operations, setup=setup), scenario=scenario, timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
    if f == "add":  # the wrong `contains` needs nobody else
        alone = scenario.replace(" | add", "; add", 1) if name != "counters" else "add(1); add(1); estimate(1)"
        assert explore(replace(target, operations=operations, setup=setup), scenario=alone).verdict == "ok"
