"""More sketches under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels import counting, scalable, stable, top
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.words import mix
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.estimates import MIN_HASH, TOP_K
from latchfree_evidence.targets.filters import COUNTING_BLOOM, SCALABLE_BLOOM, STABLE_BLOOM
from latchfree_explore.target import Operation

SCENARIOS = [
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


def test_writers_of_two_items_forge_none():
    """Too many interleavings for all of them."""
    assert explore(TOP_K, scenario="add(1) | add(2) | after: forged", seed=3, schedules=4_000).verdict == "ok"


# wrong on purpose ----------------------------------------------------------------------------------------------------


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
def raises_in_two_steps(mem: Handle, record: Word, thread: Word, item: Word) -> None:
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
    "X1": (COUNTING_BLOOM, "add", counts_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X4": (STABLE_BLOOM, "add", sets_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X10": (SCALABLE_BLOOM, "contains", looks_at_the_last_layer, "init: add(1) | contains(1) | add(2)"),
    "maximum": (MIN_HASH, "add", raises_in_two_steps, "add(1) | add(2) | after: contains(1); contains(2)"),
    "X9": (TOP_K, "add", seals_the_bytes_alone, "add(1) | add(2) | after: forged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    target, f, wrong, scenario = WRONG[name]
    changed = Operation(wrong, bool) if f == "contains" else wrong
    result = explore(replace(target, operations={**target.operations, f: changed}), scenario=scenario, timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
