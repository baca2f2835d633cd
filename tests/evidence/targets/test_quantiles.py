"""KLL under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import load, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels import kll, lanes
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.quantiles import KLL, count_in

_1 = np.uint64(1)
_2 = np.uint64(2)
_32 = np.uint64(32)

SCENARIOS = [
    "add(1) | add(2) | after: count",
    "add(1) | count; count",
    "init: add(1) | add(2) | count",
    "init: add(1) | add(2) | add(3) | after: count",
    "add(1); add(2); add(3); add(4) | count",
    "add(1); add(2) | add(3) | count",
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_interleaving_keeps_the_promise(scenario):
    result = explore(KLL, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


# wrong on purpose ----------------------------------------------------------------------------------------------------


@kernel
def counts_first(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X14: an item is counted before it is written."""
    lane = lanes.claim(mem, np.uint64(0), record, _1)
    state = load(mem, lane + lanes.STATE)
    lanes.publish(mem, lane, state + _1)
    store(mem, lanes.copy_at(lane, state >> _32, _2) + lanes.COPY_HEAD + (state & _1), np.uint64(item))
    lanes.release(mem, lane)


@kernel
def looks_once(mem: Handle, record: Word, thread: Word) -> Word:
    """X15: nobody looks again whether the copy is in use."""
    words, lane = np.empty(1 + int(lanes.copy_words(_2)), np.uint64), record + FIRST_CELL
    state = load(mem, lane + lanes.STATE)
    copy = lanes.copy_at(lane, state >> _32, _2)
    words[0] = state
    for k in range(lanes.COPY_HEAD + np.uint64(14)):
        if k < lanes.SIZES + np.uint64(4) or k >= lanes.COPY_HEAD:
            words[np.uint64(k) + _1] = load(mem, copy + np.uint64(k))
    return count_in(words)


@kernel
def takes_what_is_held(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X16, at its worst: a lane is used without a claim."""
    kll.add(mem, record, record + FIRST_CELL, np.uint64(item))


@kernel
def writes_in_place(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X17: the copy in use is written anew."""
    lane = lanes.claim(mem, np.uint64(0), record, _1)
    if load(mem, lane + lanes.STATE) == _1:
        copy = lane + lanes.LANE_HEAD
        poke(mem, lanes.work_at(lane, _2), peek(mem, copy + lanes.COPY_HEAD))
        store(mem, copy + lanes.USED, _1)
        store(mem, copy + lanes.LEVELS, _1)
        store(mem, copy + lanes.COPY_HEAD + _2, np.uint64(item))
        store(mem, copy + lanes.SIZES + _1, _1)
        lanes.publish(mem, lane, np.uint64(0))
        lanes.release(mem, lane)
    else:
        kll.add(mem, record, lane, np.uint64(item))
        lanes.release(mem, lane)


WRONG = {
    "X14": ("add", counts_first, "add(1) | count"),
    "X15": ("count", looks_once, "init: add(1) | add(2); add(3); add(4) | count"),
    "X16": ("add", takes_what_is_held, "add(1) | add(2) | after: count"),
    "X17": ("add", writes_in_place, "init: add(1) | add(2) | count"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    f, wrong, scenario = WRONG[name]
    result = explore(replace(KLL, operations={**KLL.operations, f: wrong}), scenario=scenario, timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
