"""The idle snapshot on the explorer: what is taken is current, and none that is old stays idle."""

import pytest

from latchfree_evidence import explore

BOTH = "init: snapshot() | snapshot() | put(0, 1) | after: stale() | keys: flat"
PROGRAMS = (
    "init: snapshot() | snapshot() | put(0, 1); snapshot() | after: stale() | keys: flat",
    "init: put(0, 1); put(1, 2); snapshot() | snapshot() | put(0, 3); get(1) | after: stale() | keys: pairs",
    "init: put(0, 1); put(1, 2); snapshot() | snapshot(); snapshot() | remove(0) | after: stale() | keys: pairs",
    "init: put(0, 1); snapshot() | snapshot() | clear(); snapshot() | after: stale() | keys: flat",
    "init: put(0, 1); snapshot() | snapshot() | snapshot() | put(0, 2) | after: snapshot(); stale() | keys: flat",
)


def test_every_interleaving_of_a_give_and_a_put():
    result = explore("idle", scenario=BOTH, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True)


@pytest.mark.parametrize("scenario", PROGRAMS)
def test_with_few_preemptions(scenario):
    result = explore("idle", scenario=scenario, strategy="bounded", bound=2, schedules=20_000, timeout=600)
    assert result.failure is None, result


@pytest.mark.parametrize("memory", ["tso", "sra", "rc11"])
def test_in_weaker_memory(memory):
    result = explore("idle", scenario=BOTH, memory=memory, schedules=20_000, timeout=600)
    assert result.failure is None, result
