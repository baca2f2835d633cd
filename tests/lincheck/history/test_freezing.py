"""A recorder keeps what a call was given and returned as it was then, and names what it cannot keep."""

import asyncio
import collections
import enum
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from latchfree_lincheck import Recorder, check
from latchfree_lincheck.history.freezing import CannotFreeze, frozen
from latchfree_model import UNKNOWN


class LiveSet:
    """Hands out its own set."""

    def __init__(self):
        self.elements = set()

    def add(self, x):
        new = x not in self.elements
        self.elements.add(x)
        return new

    def snapshot(self):
        return self.elements


def recorded(recorder):
    live = LiveSet()
    for f, *arguments in (("add", 1), ("snapshot",), ("add", 2), ("snapshot",)):
        with recorder.call(0, f, *arguments) as call:
            call.result = getattr(live, f)(*arguments)
    return recorder.history("live")


def test_a_live_result_is_judged_as_it_was_at_the_return():
    history = recorded(Recorder())
    assert check(history, "set").verdict == "ok"
    assert [each.result for each in history.operations if each.f == "snapshot"] == [{1}, {1, 2}]


def test_without_copies_a_live_result_is_what_it_became():
    assert check(recorded(Recorder(freeze=False)), "set").verdict == "violation"


def test_a_violation_is_not_hidden_by_a_later_change():
    seen, recorder = [], Recorder()
    with recorder.call(0, "add", 1) as call:
        call.result = True
    with recorder.call(0, "snapshot") as call:
        call.result = seen
    seen.append(1)
    assert check(recorder.history("hidden"), "set").verdict == "violation"


def test_arguments_are_kept_as_they_were_at_the_call():
    @dataclass(unsafe_hash=True)
    class Key:
        name: str

    recorder, key = Recorder(), Key("a")
    with recorder.call(0, "put", key, 1) as call:
        call.result = None
        key.name = "b"
    assert recorder.history("key").operations[0].arguments == (Key("a"), 1)


@dataclass
class Point:
    x: list = field(default_factory=list)


class Colour(enum.Enum):
    RED = (1, 2)


class Node:
    """Has no equality of its own."""


SAME = [1, "a", None, True, 1.5, float("nan"), b"b", (), (1, ("a", None)), Colour.RED, UNKNOWN, Node(), len, Node]
SAME += [threading.Lock()]
COPIED = [[1], [[1], (2, [3])], {1: [2]}, {(1, 2)}, (1, [2]), bytearray(b"x"), collections.deque([1]), Point([1])]
COPIED += [collections.OrderedDict(a=[1]), collections.Counter("aa"), [float("nan")] * 2]


@pytest.mark.parametrize("value", SAME, ids=lambda each: type(each).__name__)
def test_what_cannot_change_or_equals_only_itself_is_kept(value):
    assert frozen(value, "it") is value


@pytest.mark.parametrize("value", COPIED, ids=lambda each: type(each).__name__)
def test_containers_and_objects_are_copied_with_all_they_hold(value):
    now = frozen(value, "it")
    assert now is not value
    assert now == value
    assert type(now) is type(value)


def test_deep_changes_do_not_reach_the_copy():
    value = {"a": ([1], Point([2]))}
    now = frozen(value, "it")
    value["a"][0].append(2)
    value["a"][1].x.append(3)
    assert now == {"a": ([1], Point([2]))}


def test_an_array_is_copied():
    value = np.arange(3)
    now = frozen(value, "it")
    value[0] = 9
    assert now.tolist() == [0, 1, 2]


class Items:
    """Iterates, but has no equality: its copy would be another value."""

    def __iter__(self):
        return iter(())


class Indexed:
    """Can be iterated by its indices."""

    def __getitem__(self, index):
        raise IndexError


class Incomparable:
    """Cannot be compared."""

    def __eq__(self, other):
        raise OSError("far away")

    __hash__ = None


class Copies:
    """Refuses to be copied, and to be shown."""

    def __eq__(self, other):
        return True

    __hash__ = None

    def __deepcopy__(self, memo):
        raise OSError("a live connection")

    def __repr__(self):
        raise OSError("no repr")


def cycle():
    items = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: 2}.keys(), r"^the result, dict_keys\(\[1\]\): there is no copy of a dict_keys .*; record what it stands"),
        ((each for each in "a"), r"there is no copy of a generator"),
        (Items(), r"the copy of a Items does not equal it; record what it stands for, such as list\(\.\.\.\)"),
        ([{"a": Items()}], r"^the result, \[\{'a': .*the copy of a Items does not equal it"),
        (Indexed(), r"the copy of a Indexed does not equal it"),
        (Incomparable(), r"a Incomparable cannot be compared with its copy \(far away\)"),
        (Copies(), r"a Copies without a repr .*no repr.*: there is no copy of a Copies \(a live connection\)"),
        (cycle(), r"^the result, \[\[\.\.\.\]\]: it is nested too deeply to copy"),
        (asyncio.sleep(0), r"^the result, <coroutine .*nobody awaited this coroutine; .*call.result = await"),
    ],
)
def test_what_cannot_be_copied_is_named(value, message):
    with pytest.raises(CannotFreeze, match=message):
        frozen(value, "the result")


def test_an_operation_whose_result_cannot_be_kept_stays_pending():
    recorder = Recorder()
    told = pytest.raises(CannotFreeze, match="the result of snapshot by process 0, dict_values")
    with told, recorder.call(0, "snapshot") as call:
        call.result = {}.values()
    with recorder.call(0, "add", 1) as call:
        call.result = True
    history = recorder.history("pending")
    assert [(each.process, each.return_ is None) for each in history.operations] == [(0, True), ("0'1", False)]
    assert check(history, "set").verdict == "ok"


def test_arguments_that_cannot_be_kept_are_refused_before_the_call():
    recorder = Recorder()
    with pytest.raises(CannotFreeze, match="the arguments of add"), recorder.call(0, "add", Items()):
        raise AssertionError("the call must not be made")
    assert len(recorder.history("empty")) == 0


def test_a_call_that_certainly_did_nothing_is_left_out():
    recorder = Recorder()
    with recorder.call(0, "write", 1) as call:
        call.drop()

    def refused():
        with recorder.call(0, "write", 2) as call:
            call.drop()
            raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        refused()
    with recorder.call(0, "read") as call:
        call.result = None
    history = recorder.history("dropped")
    assert [(each.process, each.f) for each in history.operations] == [(0, "read")]
    assert check(history, "register").verdict == "ok"
