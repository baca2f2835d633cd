"""The page's data says what the model says: states, legality, times and texts, decoded as the page decodes them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from lincheck_random import KINDS, model_of, random_history
from show_histories import map_history, replay

from latchfree_lincheck import History, Operation
from latchfree_lincheck.show import judge_parts
from latchfree_lincheck.show.document import NONE, document
from latchfree_lincheck.show.states import MAPPINGS, Trail
from latchfree_model import UNKNOWN


def states(part: dict, texts: list[str]) -> list[list[str]]:
    """Decode the states along a part's order."""
    now = [texts[number] for number in part["first"]]
    found = [list(now)]
    for delta in part["deltas"]:
        flat = [] if delta == 0 else list(delta)
        while flat:
            at, removed, count = flat[:3]
            now[at : at + removed] = [texts[number] for number in flat[3 : 3 + count]]
            del flat[: 3 + count]
        found.append(list(now))
    return found


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 100_000))
def test_states_are_the_models(kind: str, seed: int) -> None:
    history = random_history(kind, seed, most=9)
    model = model_of(kind)
    data = document(judge_parts(history, model))
    for part in data["parts"]:
        expected = replay(history, model.name, part["order"])
        pairs = model.name in MAPPINGS
        assert states(part, data["texts"]) == [Trail(state, pairs=pairs).items for state in expected]
        changes = [delta != 0 for delta in part["deltas"]]
        assert changes == [a != b for a, b in pairwise(expected)]


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 100_000))
def test_what_may_come_next_is_told_by_the_model(kind: str, seed: int) -> None:
    history = random_history(kind, seed, most=9)
    model = model_of(kind)
    data = document(judge_parts(history, model))
    for part in data["parts"]:
        if part["verdict"] != "violation":
            assert part["failing"] == NONE
            assert part["next"] == []
            continue
        mine = [i for i, number in enumerate(data["operations"]["part"]) if data["parts"][number] is part]
        left = [i for i in mine if i not in part["order"]]
        first = {i for i in left if not any(_before(history.operations[j], history.operations[i]) for j in left)}
        assert {i for i, _, _ in part["next"]} == first
        assert part["failing"] in first
        state = replay(history, model.name, part["order"])[-1]
        for i, legal, words in part["next"]:
            call = history.operations[i].call
            assert (bool(legal), words) == (model.step(state, call)[0], model.describe(state, call))


def _before(a: Operation, b: Operation) -> bool:
    return a.return_ is not None and a.return_ < b.invoke


def test_columns() -> None:
    huge = 2**62
    history = History(
        "h",
        [
            Operation("w", "put", ("k", 1), None, 5, 9, "m"),
            Operation(10, "get", ("k",), 1, 7, huge, "m"),
            Operation(9, "get", ("k",), UNKNOWN, 9, None, "m"),
        ],
    )
    data = document(judge_parts(history, "map", source="file"))
    columns = data["operations"]
    assert (data["name"], data["source"], data["model"], data["verdict"]) == ("h", "file", "map", "ok")
    assert data["processes"] == ["9", "10", "w"]
    assert columns["process"] == [2, 1, 0]
    assert data["times"] == [5, 2, 2, str(huge - 9)]
    assert (columns["invoke"], columns["return"]) == ([0, 1, 2], [2, 3, NONE])
    assert [data["texts"][i] for i in columns["call"]] == ["m.put('k', 1)", "m.get('k')", "m.get('k')"]
    assert [data["texts"][i] if i >= 0 else None for i in columns["result"]] == ["None", "1", None]
    assert data["keys"] == ["m key 'k'"]
    assert columns["key"] == [0, 0, 0]


def test_an_empty_history() -> None:
    data = document(judge_parts(History("empty", []), "map"))
    assert data["parts"] == data["times"] == data["processes"] == []


def test_steps_are_plain_values() -> None:
    steps = [{"thread": 1, "kind": "cas", "function": "gcas", "line": 7, "address": 2**60, "value": (1, 2)}]
    data = document(judge_parts(map_history(5, 1), "map", steps=steps))
    assert data["steps"] == [
        {"thread": 1, "kind": "cas", "function": "gcas", "line": "7", "address": str(2**60), "value": "(1, 2)"}
    ]
