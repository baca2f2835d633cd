"""The ring buffer under the explorer: every interleaving of small scenarios, with positions that wrap around."""

import pytest

from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.ring import RING, WEAK_RING

SCENARIOS = [
    "enqueue(1) | enqueue(2); dequeue",
    "init: enqueue(8); enqueue(9) | dequeue | dequeue; enqueue(1)",
    "enqueue(1); dequeue | enqueue(2); dequeue | after: dequeue",
    "init: enqueue(8) | enqueue(1); enqueue(2) | dequeue; dequeue | after: dequeue; dequeue",
    "init: enqueue(8) | enqueue(1) | enqueue(2) | dequeue",
]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("target", [RING, WEAK_RING], ids=lambda target: target.name)
def test_every_interleaving_is_that_of_a_queue(target, scenario):
    result = explore(target, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


def test_a_strict_ring_waits_and_a_weak_one_does_not():
    scenario = "enqueue(1) | enqueue(2); dequeue"
    assert explore(RING, scenario=scenario, progress=True).failure.kind == "not obstruction-free"
    assert explore(WEAK_RING, scenario=scenario, progress=True).verdict == "ok"


def test_a_weak_ring_is_no_strict_one():
    from dataclasses import replace

    strictly = replace(RING, setup=WEAK_RING.setup)
    failure = explore(strictly, scenario="enqueue(1) | enqueue(2); dequeue").failure
    assert failure is not None
    assert failure.context_switches == 2
    assert "dequeue() returned None" in failure.message


def test_random_scenarios():
    assert explore("ring", seed=5, schedules=10_000).verdict == "ok"
    assert explore("weak-ring", seed=5, schedules=10_000).verdict == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ring", "weak-ring"])
@pytest.mark.parametrize(
    "scenario",
    [
        "enqueue(1) | enqueue(2) | dequeue | dequeue",
        "init: enqueue(8) | enqueue(1); dequeue | enqueue(2); dequeue | after: dequeue; dequeue",
    ],
)
def test_larger_scenarios(target, scenario):
    result = explore(target, scenario=scenario, timeout=1200)
    assert (result.verdict, result.complete) == ("ok", True), result.reason
