"""Right structures stand, wrong ones fall, whatever the strategy; and what is asked of progress."""

import pytest

from latchfree_explore import explore
from latchfree_explore.examples.counter import CAS_COUNTER, COUNTER, LOST_UPDATE
from latchfree_explore.examples.mutex import CARELESS, FORGETFUL, MUTEX, UNGUARDED
from latchfree_explore.examples.queue import HASTY, QUEUE
from latchfree_explore.examples.treiber import ABA, TREIBER

_ABA = "init: push(1) | pop; push(2) | pop; pop | push(3)"
RIGHT = [
    (COUNTER, "increment; read | increment; read"),
    (CAS_COUNTER, "increment; read | increment | increment"),
    (MUTEX, "increment; read | increment"),
    (TREIBER, _ABA),
    (QUEUE, "enqueue(1); dequeue | enqueue(2); dequeue"),
]
WRONG = [
    (LOST_UPDATE, "increment | increment"),
    (CARELESS, "increment | increment"),
    (ABA, _ABA),
    (HASTY, "init: enqueue(1); enqueue(2) | dequeue | dequeue"),
]


@pytest.mark.parametrize(("target", "scenario"), RIGHT, ids=[target.name for target, _ in RIGHT])
def test_right_ones(target, scenario):
    result = explore(target, scenario=scenario)
    assert result.verdict == "ok"
    assert result.complete
    assert result.schedules > 1


@pytest.mark.parametrize("strategy", ["dpor", "bounded", "pct", "random"])
@pytest.mark.parametrize(("target", "scenario"), WRONG, ids=[target.name for target, _ in WRONG])
def test_wrong_ones(target, scenario, strategy):
    result = explore(target, scenario=scenario, strategy=strategy, bound=3 if strategy != "random" else None)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"


def test_random_scenarios_find_the_lost_update_and_it_is_made_small():
    result = explore(LOST_UPDATE, seed=3)
    assert result.verdict == "violation"
    assert len(result.failure.scenario.operations) <= 3
    assert result.failure.preemptions == 1
    assert result.failure.context_switches <= 2


def test_a_lock_that_is_never_released():
    result = explore(FORGETFUL, scenario="increment | increment")
    assert result.failure.kind == "deadlock"
    assert [operation.return_ for operation in result.failure.history.operations].count(None) == 1


def test_plain_accesses_are_interleaved_on_request():
    assert explore(UNGUARDED, scenario="increment | increment").verdict == "ok"
    assert explore(UNGUARDED, scenario="increment | increment", plain=True).verdict == "violation"


@pytest.mark.parametrize("strategy", ["dpor", "bounded", "random"])
def test_a_lock_is_not_obstruction_free(strategy):
    result = explore(MUTEX, scenario="increment | read", strategy=strategy, progress=True)
    assert result.failure.kind == "not obstruction-free"


@pytest.mark.parametrize(("target", "scenario"), [RIGHT[1], RIGHT[3], RIGHT[4]], ids=["counter", "treiber", "queue"])
def test_lock_free_structures_are_obstruction_free(target, scenario):
    asked = explore(target, scenario=scenario, progress=True)
    assert asked.verdict == "ok"
    assert asked.complete
    assert asked.schedules == explore(target, scenario=scenario).schedules, "asking does not disturb the search"


def test_a_script_leads_straight_to_the_lost_update():
    found = explore(LOST_UPDATE, scenario="increment | increment", strategy="directed", script="0:store 1 0")
    assert found.verdict == "violation"
    assert found.failure.schedule == [0, 1, 1, 0]
    fine = explore(LOST_UPDATE, scenario="increment | increment", strategy="directed", script="0:counter.py 1+ 0*2")
    assert fine.verdict == "ok"


@pytest.mark.parametrize(
    ("script", "why"),
    [("0:exchange", "comes to no such access"), ("2", "no thread 2"), ("0*9", "only 2 accesses"), ("x", "expected a")],
)
def test_scripts_that_cannot_be_followed(script, why):
    with pytest.raises(ValueError, match=why):
        explore(LOST_UPDATE, scenario="increment | increment", strategy="directed", script=script)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"strategy": "luck"}, "unknown strategy"),
        ({"schedules": 0}, "at least 1"),
        ({"strategy": "pct", "bound": 17}, "from 1 to 16"),
        ({"strategy": "directed"}, "along a script"),
        ({"target": "tree"}, "unknown target"),
        ({"target": "nowhere.py"}, "no such file"),
    ],
)
def test_bad_arguments(options, why):
    with pytest.raises(ValueError, match=why):
        explore(**{"target": COUNTER, "scenario": "increment", **options})
