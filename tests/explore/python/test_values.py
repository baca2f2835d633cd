"""Which histories are taken to be equal: those of equal values, whatever the values' texts say."""

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_object, outside_event
from latchfree_lincheck.history.keys import key_of
from latchfree_model import UNKNOWN


class Masked(int):
    def __repr__(self):
        return "***"


class Silent(int):
    def __repr__(self):
        raise RuntimeError("no text")


class Torn:
    kind = int

    def __init__(self):
        self.n = 0

    def add(self, k):
        before = self.n
        self.n = 99
        self.n = before + k
        return self.kind(before)

    def read(self):
        return self.kind(self.n)


class MaskedTorn(Torn):
    kind = Masked


class SilentTorn(Torn):
    kind = Silent


class AsyncTorn:
    def __init__(self):
        self.n = 0

    async def add(self, k):
        before = self.n
        self.n = 99
        await outside_event("written")
        self.n = before + k
        return Masked(before)

    async def read(self):
        await outside_event("asked")
        return Masked(self.n)


@pytest.mark.parametrize("cls", [Torn, MaskedTorn, SilentTorn])
@pytest.mark.parametrize("strategy", ["dpor", "auto", "random"])
def test_a_result_is_judged_by_its_value_and_not_by_its_text(cls, strategy):
    result = explore_object(cls, "add(1) | read()", model="counter", strategy=strategy, schedules=200, raises=False)
    assert result.wrong.kind == "not linearizable"


def test_a_result_of_tasks_is_judged_by_its_value():
    result = explore_object(AsyncTorn, "add(1) | read()", model="counter", raises=False)
    assert result.wrong.kind == "not linearizable"


def test_a_text_that_cannot_be_made_is_said_so():
    result = explore_object(SilentTorn, "add(1) | read()", model="counter", raises=False)
    assert "read returned a Silent; no text" in result.reason
    assert "no text" in result.explain()


def test_values_have_a_key_only_if_they_are_of_plain_kinds():
    plain = [
        0, False, 0.0, -0.0, float("nan"), 1, True, "1", b"1", None, UNKNOWN, (), [], {}, set(), frozenset(), (1,), [1],
        [True], {1: 2}, {2: 1}, {1, 2}, frozenset({1, 2}), (1, (2, 3)), ((1, 2), 3), 10**5000,
    ]  # fmt: skip
    keys = [key_of(each) for each in plain]
    assert None not in keys
    assert len(set(keys)) == len(plain)
    assert key_of([1, {2: {3}}]) == key_of([1, {2: {3}}])
    for other in (Masked(1), [Masked(1)], {1: (Masked(1),)}, {Masked(1)}, object(), [object()]):
        assert key_of(other) is None
