"""KLL under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels import kll
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.quantiles import KLL

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


# wrong on purpose, beside the mutants of the catalogue ----------------------------------------------------------------


@kernel
def takes_what_is_held(mem: Handle, record: Word, thread: Word, item: Word) -> None:
    """X16, at its worst: a lane is used without a claim."""
    kll.add(mem, record, record + FIRST_CELL, np.uint64(item))


def test_a_lane_that_is_used_without_a_claim_is_found():
    target = replace(KLL, operations={**KLL.operations, "add": takes_what_is_held})
    result = explore(target, scenario="add(1) | add(2) | after: count", timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
