"""The Ctrie itself under many schedules."""

import pytest

from latchfree_evidence.exploring import explore

SCENARIO = "init: put(0, 1); put(1, 2) | remove(0) | put(1, 3) | after: snapshot | keys: pairs"


def test_random_scenarios():
    result = explore("ctrie", seed=20120225, schedules=20_000)
    assert result.verdict == "ok", result.explain()
    assert result.schedules == 20_000
    assert result.scenarios == 20


def test_a_contraction_in_every_interleaving_and_each_thread_alone_finishes():
    result = explore("ctrie", scenario=SCENARIO, progress=True)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()


def test_no_plain_access_of_it_races():
    plain = explore("ctrie", scenario=SCENARIO, plain=True)
    assert (plain.verdict, plain.complete) == ("ok", True), plain.explain()
    # Were a plain access to depend on one of another thread, there would be more classes of schedules.
    assert plain.schedules == explore("ctrie", scenario=SCENARIO).schedules


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["pct", "random"])
def test_many_random_scenarios(strategy):
    result = explore("ctrie", seed=1, strategy=strategy, schedules=2_000_000)
    assert result.verdict == "ok", result.explain()
    assert result.schedules == 2_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [
        "init: put(0, 1); put(1, 2); put(2, 3) | remove(0) | snapshot | after: snapshot | keys: pairs",
        "init: put(0, 1); put(1, 2) | remove(0) | remove(1) | after: snapshot; size | keys: pairs",
        "init: put(0, 1); put(1, 2); put(2, 3) | remove(0) | put(1, 4) | after: snapshot | keys: list",
        "init: put(0, 1); put(1, 2) | clear | put(0, 3) | after: snapshot | keys: pairs",
        "init: put(0, 1) | snapshot | put(0, 2) | after: get(0)",
    ],
)
def test_two_threads_in_every_interleaving(scenario):
    result = explore("ctrie", scenario=scenario, progress=True)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
