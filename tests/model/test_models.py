"""The sequential models against plain Python objects, and what they say about wrong results."""

import copy
import pickle
import random
from typing import Any

import pytest

from latchfree_model import MODELS, UNKNOWN, Call, MapModel, Model, get_model


def replay(model: Model[Any], *calls: tuple[str, tuple[object, ...], object]) -> Any:
    """Step through calls that must be legal; return the state after them."""
    state = model.init()
    for f, arguments, result in calls:
        call = Call(f, arguments, result)
        legal, state = model.step(state, call)
        assert legal, model.describe(state, call)
    return state


def dict_result(contents: dict[int, int], f: str, arguments: tuple[int, ...]) -> object:
    """Run one map operation on a dict: an oracle that shares nothing with the model."""
    key = arguments[0] if arguments else -1
    old = contents.get(key)
    if f in ("put", "replace", "put_if_absent"):
        if f == "put" or (f == "replace") == (key in contents):
            contents[key] = arguments[1]
        return old
    if f == "remove":
        return contents.pop(key, None)
    if f in ("replace_if", "remove_if"):
        if key not in contents or old != arguments[1]:
            return False
        if f == "remove_if":
            del contents[key]
        else:
            contents[key] = arguments[2]
        return True
    if f == "clear":
        contents.clear()
        return None
    simple = {"get": old, "contains": key in contents, "snapshot": dict(contents), "size": len(contents)}
    return simple[f]


@pytest.mark.parametrize("seed", range(20))
def test_map_agrees_with_a_dict(seed: int) -> None:
    rng = random.Random(seed)
    model = MapModel()
    state = model.init()
    contents: dict[int, int] = {}
    for _ in range(300):
        f = rng.choice(list(model.operations))
        arguments = tuple(rng.randrange(3) for _ in range(model.operations[f]))
        result = dict_result(contents, f, arguments)
        wrong = {"snapshot": {9: 9}, "size": -1, "clear": result}.get(f, "wrong")
        legal, unchanged = model.step(state, Call(f, arguments, wrong))
        assert legal == (f == "clear"), (seed, f, arguments)
        assert legal or unchanged == state
        legal, unseen = model.step(state, Call(f, arguments, UNKNOWN))
        assert legal
        legal, state = model.step(state, Call(f, arguments, result))
        assert legal, (seed, f, arguments, result)
        assert unseen == state
        assert dict(state) == contents
        assert hash(state) == hash(frozenset(contents.items()))


def test_register() -> None:
    replay(get_model("register"), ("read", (), None), ("write", (3,), None), ("read", (), 3), ("write", (4,), "ok"))


def test_cas_register() -> None:
    state = replay(
        get_model("cas-register"),
        ("cas", (None, 1), True),
        ("cas", (2, 3), False),
        ("read", (), 1),
        ("write", (5,), None),
        ("cas", (5, 6), UNKNOWN),
        ("read", (), 6),
    )
    legal, after = get_model("cas-register").step(state, Call("cas", (6, 7), False))
    assert not legal
    assert after == state


def test_append_kv() -> None:
    state = replay(
        get_model("append-kv"),
        ("get", (0,), ""),
        ("append", (0, "x"), None),
        ("append", (0, "y"), None),
        ("get", (0,), "xy"),
        ("get", (1,), ""),
        ("put", (0, "z"), None),
        ("get", (0,), "z"),
        ("put", (0, ""), None),
    )
    assert state == get_model("append-kv").init()


@pytest.mark.parametrize(
    ("name", "history", "call", "expected"),
    [
        ("map", [("put", (3, 5), None)], Call("get", (3,), 7), "get(3) returned 7, but key 3 held 5"),
        ("map", [], Call("remove", ("a",), 7), "remove('a') returned 7, but key 'a' held nothing"),
        ("map", [("put", (1, 2), None)], Call("size", (), 2), "size() returned 2, but the map held 1 key(s)"),
        (
            "map",
            [("put", (1, 2), None), ("put", (0, 9), None)],
            Call("snapshot", (), {1: 2}),
            "snapshot() returned {1: 2}, but the map held {0: 9, 1: 2}",
        ),
        ("map", [("put", (3, 5), None)], Call("get", (3,), 5), "get(3) returned 5, as it may: key 3 held 5"),
        ("register", [("write", (1,), None)], Call("read", (), 2), "read() returned 2, but the register held 1"),
        ("append-kv", [], Call("get", (0,), "x"), "get(0) returned 'x', but key 0 held ''"),
    ],
)
def test_describe(name: str, history: list[Any], call: Call, expected: str) -> None:
    model = get_model(name)
    assert model.describe(replay(model, *history), call) == expected


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("map", Call("pop", (1,), None), r"pop\(1\): the model 'map' has no operation 'pop'; it has get, put"),
        ("map", Call("put", (1,), None), r"put\(1\): 'put' of 'map' takes 2 argument"),
        ("map", Call("put", (1, None), None), "None means that nothing is there"),
        ("map", Call("replace_if", (1, 2, None), True), "None means that nothing is there"),
        ("map", Call("snapshot", (), 5), "expected a mapping or"),
        ("append-kv", Call("append", (1, 2), None), "takes a string, not 2"),
    ],
)
def test_malformed_calls(name: str, call: Call, message: str) -> None:
    model = get_model(name)
    with pytest.raises(ValueError, match=message):
        model.step(model.init(), call)


@pytest.mark.parametrize("result", [{1: 2}, ((1, 2),), [[1, 2]], frozenset({(1, 2)})])
def test_snapshot_results(result: object) -> None:
    replay(get_model("map"), ("put", (1, 2), None), ("snapshot", (), result))


def test_snapshot_that_lists_a_key_twice_is_illegal() -> None:
    model = get_model("map")
    state = replay(model, ("put", (1, 2), None))
    assert model.step(state, Call("snapshot", (), [(1, 2), (1, 2)])) == (False, state)


def test_partition() -> None:
    model = get_model("map")
    assert model.partition(Call("get", (3,), None)) == 3
    assert {model.partition(Call(f, (), None)) for f in ("snapshot", "size", "clear")} == {None}
    assert get_model("append-kv").partition(Call("append", ("k", "x"), None)) == "k"
    assert get_model("register").partition(Call("read", (), None)) is None


def test_get_model() -> None:
    assert {name: get_model(name).name for name in MODELS} == {name: name for name in MODELS}
    with pytest.raises(ValueError, match="no model is called 'heap'; the models are map, register, cas-register"):
        get_model("heap")


def test_unknown_survives_copies() -> None:
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    assert repr(UNKNOWN) == "UNKNOWN"
