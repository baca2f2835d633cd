"""Calls on an object, judged by a model: linearizable in every schedule, or the smallest scenario that is not."""

import itertools
import json
import sys

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore import Diverged, ExplorationFailed, explore_object, replay_python
from latchfree_explore.python.calling import performer
from latchfree_explore.python.objects import ObjectCalls
from latchfree_explore.python.program import Machine
from latchfree_explore.python.replays import find_class, outline, to_json
from latchfree_explore.python.search.orders import orders
from latchfree_explore.python.search.strategies import Fixed, Reduced
from latchfree_model import get_model


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_map_with_a_lock_is_linearizable(switches):
    result = explore_object(so.LockedMap, "put(0, 1); get(0) | put(0, 2) | remove(0)", switches=switches)
    assert result.verdict == "ok"
    assert result.complete


def test_a_stale_read_is_found_although_its_schedules_are_equivalent_to_right_ones():
    """A get that begins after a put has returned must see it: which calls overlap differs among equal schedules."""
    with pytest.raises(ExplorationFailed) as caught:
        explore_object(so.StaleMap, "put(0, 1); put(1, 1) | put(0, 2); get(0)")
    result = caught.value.result
    assert result.wrong.kind == "not linearizable"
    assert result.scenario.count("(") <= 3
    assert "scenario: " in str(caught.value)


def test_the_schedule_shown_has_the_calls_in_the_order_that_is_wrong():
    """The enumerated order of calls is one that a schedule has, and it returns the same."""

    class Shared:
        def __init__(self):
            self.new = self.old = None

        def write(self, value):
            self.new = value

        def read(self):
            return self.old

    result = explore_object(Shared, "write(1) | read()", model="register", raises=False)
    assert result.wrong.kind == "not linearizable"
    assert [step.thread for step in result.steps] == [0, 1]


def test_every_order_of_calls_is_enumerated_once():
    script = [[("put", (0, 1))], [("put", (1, 1))], [("get", (5,))]]
    program = ObjectCalls(so.LockedMap, script, get_model("map"), performer({}))
    machine = Machine(program, polls=False)
    with machine.ready():
        for _ in range(2):
            run, wrong = machine.execute(Fixed([]))
        assert wrong is None
        found = [tuple(events) for events in orders(run, program.calls)]
    # each call takes the lock, so none of the first three steps of a call can be exchanged with another call's
    assert len(found) == len(set(found))
    assert all(events.index(("call", k)) < events.index(("return", k)) for events in found for k in range(3))


def test_every_program_of_two_threads_and_two_calls_is_explored_to_the_end():
    calls = [("put", (0, 1)), ("get", (0,)), ("remove", (0,))]
    pairs = list(itertools.product(calls, repeat=2))
    programs = list(itertools.combinations_with_replacement(pairs, 2))
    for script in programs[::5]:
        program = ObjectCalls(so.LockedMap, script, get_model("map"), performer({}))
        machine, strategy = Machine(program, polls=False), Reduced()
        with machine.ready():
            while True:
                run, wrong = machine.execute(strategy)
                if machine.constants.refuted():
                    strategy.restart()
                    continue
                assert wrong is None
                if not strategy.advance(run):
                    break


def test_a_call_that_raises_is_found_though_it_never_returns():
    class Full:
        def put(self, key, value):
            raise OverflowError("full")

    result = explore_object(Full, "put(0, 1) | put(1, 1)", raises=False)
    assert result.wrong.kind == "exception"
    assert "OverflowError: full" in result.wrong.message


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="no operation 'push'"):
        explore_object(so.LockedMap, "push(1)")
    with pytest.raises(ValueError, match="takes 2 argument"):
        explore_object(so.LockedMap, "put(1)")
    with pytest.raises(ValueError, match="no such layouts"):
        explore_object(so.LockedMap, "get(1) | keys: shared")
    with pytest.raises(ValueError, match="'free' or 'gil'"):
        explore_object(so.LockedMap, "get(1)", switches="none")
    with pytest.raises(ValueError, match=r"LockedMap has no method 'fetch'; fix: explore_object\(..., methods=\{'get'"):
        explore_object(so.LockedMap, "get(1)", methods={"get": "fetch"})
    with pytest.raises(TypeError, match="the method for 'get' must be a function, got int"):
        explore_object(so.LockedMap, "get(1)", methods={"get": 7})
    with pytest.raises(TypeError, match="methods must be a mapping, got list"):
        explore_object(so.LockedMap, "get(1)", methods=["get"])
    with pytest.raises(TypeError, match="make must be a function, got str"):
        explore_object("so.LockedMap", "get(1)")


def test_a_failure_is_replayed_step_by_step(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("replayed_map.py").write_text(
        "class Map:\n    def __init__(self):\n        self.items = {}\n    def put(self, k, v):\n"
        "        old = self.items.get(k)\n        self.items[k] = v\n        return old\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    make = find_class("replayed_map:Map")
    result = explore_object(make, "put(0, 1) | put(0, 2)", raises=False)
    assert result.preemptions == 1
    path = tmp_path / "case.json"
    document = to_json(result, target="replayed_map:Map", model="map")
    path.write_text(json.dumps(document))
    for _ in range(2):
        again = replay_python(path)
        assert again.verdict == "violation"
        assert again.reason == result.reason
        assert outline(again.steps) == document["steps"] == outline(result.steps)
    document["steps"][1][1] = ["replayed_map.py:5 something else"]
    path.write_text(json.dumps(document))
    with pytest.raises(Diverged, match=r"step 1: .*when the file was written .*something else"):
        replay_python(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="python-replay"):
        replay_python(path)
    with pytest.raises(ValueError, match="no module 'no_such_module'"):
        find_class("no_such_module:Map")
