"""Without a scenario every small program of calls is explored."""

import threading
from contextlib import nullcontext

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore import explore_object
from latchfree_explore.python import small
from latchfree_explore.python.given.owners import Owner
from latchfree_explore.python.small import small_programs
from latchfree_model import get_model


class Register:
    def __init__(self):
        self.value = None

    def write(self, value):
        self.value = value

    def read(self):
        return self.value


def texts(make, model, **options):
    programs, of_all = small_programs(Owner(make.__qualname__, make), get_model(model), {}, **options)
    return list(map(str, programs)), of_all


def test_every_program_of_two_threads_with_two_calls_each_is_there_once():
    found, of_all = texts(Register, "register")
    assert of_all == len(found) == len(set(found)) == 12 * 13 // 2
    assert found[0].count("(") == 2
    assert found[-1].count("(") == 4
    counts = [each.count("(") for each in found]
    assert counts == sorted(counts)
    assert "write(1) | write(2); read()" in found
    sides = [frozenset([each, " | ".join(reversed(each.split(" | ")))]) for each in found]
    assert len(set(sides)) == len(found)


def test_only_what_the_class_has_is_called():
    found, _ = texts(so.Counter, "counter") if hasattr(so.Counter, "add") else texts(Register, "cas-register")
    assert not any("cas(" in each for each in found)
    with pytest.raises(ValueError, match="Register has no method of the model 'queue', which has enqueue, dequeue"):
        texts(Register, "queue")


def test_calls_that_belong_together_stay_together():
    class Mutex:
        def acquire(self):
            pass

        release = acquire

    found, _ = texts(Mutex, "mutex")
    assert found[0] == "acquire(); release() | acquire(); release()"


def test_of_too_many_a_part_of_the_largest_is_drawn(monkeypatch):
    monkeypatch.setattr(small, "MOST_PROGRAMS", 50)
    found, of_all = texts(Register, "register", seed=1)
    assert (len(found), of_all) == (50, 78)
    assert found == texts(Register, "register", seed=1)[0]
    assert found != texts(Register, "register", seed=2)[0]
    result = explore_object(Register, model="register")
    assert (result.verdict, result.complete, result.programs) == ("ok", True, 50)
    assert "of 50 of 78 programs" in result.reason


def test_a_model_of_texts_is_refused():
    class Index:
        def match(self, topic):
            return []

        def subscribe(self, pattern, key):
            return True

    with pytest.raises(ValueError, match=r"does not take .*fix: say which calls to explore"):
        explore_object(Index, model="topic-index")


def test_all_programs_of_a_register_are_explored():
    seen = []
    result = explore_object(Register, model="register", on_progress=lambda done, of: seen.append((done, of)))
    assert (result.verdict, result.complete, result.programs, result.scenario) == ("ok", True, 78, "")
    assert (
        result.reason == "nothing wrong in any schedule of all 78 programs of two threads with at most two calls each"
    )
    assert seen == [(done, 78) for done in range(1, 79)]
    assert f"{result.schedules:,} schedules (dpor) of 78 programs" in result.explain()


def test_the_first_program_that_fails_is_told():
    class Adds:
        def __init__(self):
            self.value = 0

        def add(self, amount):
            before = self.value
            self.value = before + amount
            return before

    result = explore_object(Adds, model="counter", raises=False)
    assert result.wrong.kind == "not linearizable"
    assert result.scenario == "add(1) | add(1)"
    assert result.programs == 1


def test_what_is_cut_short_is_unknown():
    result = explore_object(Register, model="register", timeout=1e-9)
    assert (result.verdict, result.complete, result.schedules) == ("unknown", False, 0)
    assert "0 of 78 programs" in result.reason
    result = explore_object(Register, model="register", schedules=1)
    assert (result.verdict, result.complete) == ("unknown", False)
    assert "78 of 78" in result.reason or "all 78" in result.reason


def test_an_operation_whose_result_holds_values_is_called_too():
    class Set:
        def __init__(self):
            self.items = set()

        def add(self, key):
            new = key not in self.items
            self.items.add(key)
            return new

        def snapshot(self):
            return set(self.items)

    found, _ = texts(Set, "set")
    assert "add(1) | snapshot()" in found
    assert explore_object(Set, model="set", raises=False, switches="gil").verdict in ("ok", "violation")


@pytest.mark.parametrize("right", [True, False])
def test_a_mutex_is_tried_too_and_given_back_only_if_it_was_taken(right):
    class Mutex:
        def __init__(self):
            self.lock = threading.Lock()

        def acquire(self):
            self.lock.acquire()

        def release(self):
            self.lock.release()

        def try_acquire(self):
            return self.lock.acquire(blocking=False) or not right

    found, _ = texts(Mutex, "mutex")
    assert "acquire(); release() | try_acquire(); release()" in found
    result = explore_object(Mutex, model="mutex", raises=False)
    assert (result.verdict, result.complete) == (("ok", True) if right else ("violation", False))
    pytest.importorskip("hypothesis")
    from latchfree_lincheck.testing import linearizable

    for options in ({"explore": "gil"}, {"repeats": 2, "programs": 20}) if right else ({"explore": "gil"},):
        test = linearizable("mutex", threads=2, most_calls=2, **{"programs": 10, **options})(Mutex)
        with nullcontext() if right else pytest.raises((AssertionError, RuntimeError)):
            test()
