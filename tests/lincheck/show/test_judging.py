"""Every part has the verdict and the order that the checker gives it, in the indices of the whole history."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lincheck_random import KINDS, model_of, random_history
from show_histories import map_history, replay

from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.show.judging import divide, judge_parts
from latchfree_model import MapModel


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 100_000))
def test_parts_agree_with_the_whole(kind: str, seed: int) -> None:
    history = random_history(kind, seed, most=9)
    model = model_of(kind)
    judged = judge_parts(history, model)
    assert judged.verdict.verdict == check(history, model).verdict
    assert sorted(i for part in judged.parts for i in part.operations) == list(range(len(history)))
    bad = [part for part in judged.parts if part.verdict.verdict == "violation"]
    assert bool(bad) == (judged.verdict.verdict == "violation")
    assert not bad or judged.verdict.failing in [part.verdict.failing for part in bad]
    for part in judged.parts:
        assert set(part.order) <= set(part.operations)
        replay(history, model.name, part.order)
        if part in bad:
            assert part.verdict.failing in part.operations
            assert part.verdict.failing not in part.order
        else:
            returned = {i for i in part.operations if history.operations[i].return_ is not None}
            assert returned <= set(part.order)


def test_all_violations_are_found_not_just_the_first() -> None:
    wrong = [
        Operation(0, "get", ("a",), 1, 0, 1),
        Operation(0, "get", ("b",), None, 2, 3),
        Operation(0, "get", ("c",), 1, 4, 5),
    ]
    judged = judge_parts(History("two", wrong), "map")
    assert [(part.label, part.verdict.verdict) for part in judged.parts] == [
        ("key 'a'", "violation"),
        ("key 'b'", "ok"),
        ("key 'c'", "violation"),
    ]
    assert [part.verdict.failing for part in judged.parts] == [0, None, 2]


def test_an_operation_on_the_whole_map_joins_its_object_only() -> None:
    calls = [("get", (1,), None, "x"), ("size", (), 0, "x"), ("get", (2,), None, "x"), ("get", (1,), None, "y")]
    operations = [Operation(0, f, a, r, 2 * i, 2 * i + 1, o) for i, (f, a, r, o) in enumerate(calls)]
    history = History("objects", operations)
    assert divide(history, model_of("map")) == [("x", (0, 1, 2)), ("y key 1", (3,))]


class OwnModel(MapModel):
    """A map that only the search in Python knows."""

    name = "own"


class Untold(list):
    """A witness that was not found."""

    def __iter__(self):
        raise RuntimeError("the search for an order reached its limit")


def test_a_witness_that_was_not_found_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    history = map_history(30, 1)
    verdict = replace(check(history, "map"), witness=Untold())
    monkeypatch.setattr("latchfree_lincheck.show.judging.check", lambda *_, timeout: verdict)
    judged = judge_parts(history, "map")
    assert judged.verdict.verdict == "ok"
    assert all(part.order == [] for part in judged.parts)


def test_a_timeout_leaves_it_undecided() -> None:
    judged = judge_parts(map_history(400, 7, whole=True, wrong=True), OwnModel(), timeout=1e-9)
    assert judged.verdict.verdict == "unknown"
    assert [part.verdict.verdict for part in judged.parts] == ["unknown"]
    assert list(judged.parts[0].order) == []


def test_an_unknown_model_is_an_error() -> None:
    with pytest.raises(ValueError, match="no model is called 'heap'"):
        judge_parts(map_history(3, 1), "heap")
