"""The schedule that a failure shows: no more changes of threads than it needs."""

import copy
import pickle
import time

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import ExplorationFailed, explore_object, explore_threads
from latchfree_explore.python import exploring


class Late:
    """Each call begins with a step that nobody else cares for."""

    def __init__(self):
        self.n = self.seen = 0

    def add(self, k):
        self.seen = 1
        before = self.n
        self.n = before + k
        return before


def changes(result):
    return [a.thread != b.thread for a, b in zip(result.steps, result.steps[1:], strict=False)].count(True)


def test_the_schedule_has_as_many_preemptions_as_it_is_said_to_need():
    result = explore_object(Late, "add(1) | add(1)", model="counter", raises=False)
    assert (result.preemptions, result.context_switches) == (1, 2)


def test_without_time_for_the_fewest_preemptions_the_schedule_has_few_changes(monkeypatch):
    monkeypatch.setattr(exploring, "FEWEST_SECONDS", -1.0)
    result = explore_object(Late, "add(1) | add(1)", model="counter", raises=False)
    assert result.preemptions is None
    assert changes(result) == 2


def test_the_search_for_the_fewest_preemptions_keeps_the_limit_of_time(monkeypatch):
    """The search has time of its own only within the limit of the whole."""
    asked = []

    def fewest(machine, wrong, until):
        asked.append(until)
        return wrong, None

    monkeypatch.setattr(exploring, "fewest", fewest)
    monkeypatch.setattr(exploring, "FEWEST_SECONDS", 10_000.0)
    before = time.monotonic()
    explore_threads(lambda: 1 / 0, timeout=1_000, raises=False)
    assert asked[0] <= before + 5_000


def test_a_failure_can_be_copied_and_pickled():
    with pytest.raises(ExplorationFailed) as caught:
        explore_object(Late, "add(1) | add(1)", model="counter")
    caught.value.add_note("a note")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value), copy.deepcopy(caught.value)):
        assert str(again) == str(caught.value)
        assert again.result.explain() == caught.value.result.explain()
        assert again.result.page() == caught.value.result.page()
        assert again.__notes__ == ["a note"]


def test_a_failure_with_an_error_that_cannot_be_pickled_can_be():
    class Local(Exception):
        pass

    def fails():
        raise Local(lambda: 0)

    with pytest.raises(ExplorationFailed) as caught:
        explore_threads(fails)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.result.wrong.error is None
