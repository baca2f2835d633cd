"""Sketches under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import cas, load, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import bloom, count_min, hyperloglog, inverse
from latchfree.sketches.kernels.record import ANNOUNCED, FIRST_CELL
from latchfree.words import mix
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.estimates import COUNT_MIN, HYPERLOGLOG, new_count_min
from latchfree_evidence.targets.filters import BLOOM, INVERSE_BLOOM, SMALL, slot_of
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
]


@pytest.mark.parametrize(("target", "scenario"), SCENARIOS, ids=lambda part: getattr(part, "name", part))
def test_every_interleaving_keeps_the_promise(target, scenario):
    result = explore(target, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


def test_random_scenarios():
    for name in ("bloom", "hyperloglog", "inverse-bloom"):
        assert explore(name, seed=5, schedules=2_000).verdict == "ok"


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


WRONG = {
    "bits": (BLOOM, adds_bits_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "registers": (HYPERLOGLOG, raises_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "one try": (HYPERLOGLOG, raises_once, "add(1) | add(2) | after: contains(1); contains(2)"),
    "slots": (INVERSE_BLOOM, looks_and_then_writes, "add(1) | add(1)"),
    "counters": (COUNT_MIN, adds_unannounced, f"init: add({OTHER}) | add(1) | add(1) | after: estimate(1)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    target, add, scenario = WRONG[name]
    operations = {**target.operations, "add": Operation(add, bool) if name == "slots" else add}
    setup = nobody_else_is_announced if name == "counters" else target.setup
    result = explore(replace(target, operations=operations, setup=setup), scenario=scenario, timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
    alone = scenario.replace(" | add", "; add", 1) if name != "counters" else "add(1); add(1); estimate(1)"
    assert explore(replace(target, operations=operations, setup=setup), scenario=alone).verdict == "ok"
