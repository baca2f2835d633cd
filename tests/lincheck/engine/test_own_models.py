"""Models of one's own that are compiled: the searches agree with plain Python, and faults of a step are named."""

import numpy as np
import pytest
from lincheck_own import OWN, PLAIN, random_own

from latchfree_lincheck import History, Operation, check, check_many
from latchfree_lincheck.engine.own_step import compile_step
from latchfree_model import NOTHING, UNKNOWN, Call, CompiledModel, fits


def disagreements(kind, seeds):
    """Judge random histories by every engine and by the same object in plain Python; return how often each verdict."""
    told = {"ok": 0, "violation": 0}
    for seed in seeds:
        history = random_own(kind, seed)
        truth = check(history, PLAIN[kind])
        for engine in ("frontier", "wgl", "auto", "python"):
            found = check(history, OWN[kind], engine=engine)
            assert found.verdict == truth.verdict, (engine, history.operations)
            assert found.failing == truth.failing, (engine, history.operations)
            if found.verdict == "ok":
                state = OWN[kind].init()
                for index in found.witness:
                    legal, state = OWN[kind].step(state, history.operations[index].call)
                    assert legal
        told[truth.verdict] += 1
    return told


@pytest.mark.parametrize("kind", OWN)
def test_the_searches_agree_with_plain_python(kind):
    assert min(disagreements(kind, range(60)).values()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", OWN)
def test_the_searches_agree_with_plain_python_on_many(kind):
    assert min(disagreements(kind, range(1000, 9000)).values()) > 1000


def test_columns_are_read_as_operations_are():
    turn = np.arange(400)
    increment = turn % 3 == 0
    given = {
        "process": turn % 2,
        "f": np.where(increment, "increment", "read"),
        "result": np.where(increment, turn < 9, np.minimum(1 + turn // 3, 3)),
        "invoke": 2 * turn,
        "return_": np.ma.masked_array(2 * turn + 1, turn > 398),
    }
    fast = History.of_columns("fast", **given)
    slow = History("slow", fast.operations)
    for history in (fast, slow):
        verdict = check(history, OWN["counter"])
        assert (verdict.verdict, verdict.engine) == ("ok", "frontier")
    wrong = History.of_columns("wrong", **{**given, "result": np.where(turn == 200, 9, given["result"])})
    assert check(wrong, OWN["counter"]).failing == 200
    found = check_many(wrong.columns, np.zeros(400, np.int64), OWN["counter"])
    assert (found.verdict[0], found.failing[0]) == ("violation", 200)


def test_objects_are_parts():
    operations = [
        Operation(place, "acquire", ("me",), 1, 2 * place, 2 * place + 1, object=name)
        for place, name in enumerate(["x", "y", "x"])
    ]
    assert check(History("h", operations[:2]), OWN["lease"]).verdict == "ok"
    verdict = check(History("h", operations), OWN["lease"])
    assert verdict.failing == 2
    assert verdict.message == "acquire('me') returned 1, but the state was ('me', 1)"


def _clock(state, op, argument, result):
    return (True, state + argument) if op == 0 else (fits(result, state), state)


def test_words_are_as_wide_as_a_time():
    """States are compared exactly: two that are equal in their low 32 bits are two."""
    model = CompiledModel("clock", 0, {"add": 1, "read": 0}, _clock)
    far = 1 << 40
    adds = [Operation(place, "add", (far,), None, place, 10) for place in range(2)]
    reads = [Operation(2, "read", (), value, 11, 12) for value in (0, far, 2 * far)]
    for engine in ("frontier", "wgl", "python"):
        assert check(History("h", [*adds, reads[2]]), model, engine=engine).verdict == "ok"
        assert check(History("h", [*adds, reads[0]]), model, engine=engine).verdict == "violation"
        assert check(History("h", [*adds, reads[1]]), model, engine=engine).verdict == "violation"


def faulty(step, **given):
    return CompiledModel("faulty", given.pop("initial", 0), {"go": 1}, step, **given)


def raised_inside(state, op, argument, result):
    return True, state // (argument - 1)


HISTORY = History("h", [Operation(0, "go", (1,), None, 0, 1)])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (faulty(lambda s, op, a, r: (True, s / 2)), r"returns \(bool, float64\): expected"),
        (faulty(lambda s, op, a, r: s + 1), "returns int64: expected"),
        (faulty(lambda s, op, a, r: (True, (s, s))), r"returns \(bool, \(int64, int64\)\): .*state is an integer"),
        (faulty(lambda s, op, a, r: (True, s), initial=(0, 0, 0)), None),
        (faulty(lambda s, op, a, r: (True, s[:2]), initial=(0, 0, 0)), "returns .*state is a tuple of 3 integers"),
        (faulty(lambda s, op, a, r: (True, hash(object()))), "cannot be compiled .*test_own_models.py:"),
        (faulty(lambda s, op, a, r: (True, PLAIN)), "cannot be compiled .*PLAIN"),
        (faulty(lambda s, op, a, r: (True, s + 1), readonly=["go"]), r"changes the state on go\(1\) -> None"),
        (faulty(lambda s, op, a, r: (True, s + 1), failures={"go": None}), r"changes the state on go\(1\) -> None"),
        (faulty(raised_inside), r"fails on go\(1\) -> None: ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "wgl"])
def test_a_fault_of_a_step_is_named(model, words, engine):
    if words is None:
        assert check(HISTORY, model, engine=engine).verdict == "ok"
        return
    with pytest.raises(ValueError, match=f"step of 'faulty' {words}"):
        check(HISTORY, model, engine=engine)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"initial": 1.5}, "initial state of 'm' must be"),
        ({"initial": ()}, "initial state of 'm' must be"),
        ({"operations": {}}, "operations of 'm' must say"),
        ({"readonly": ["red"]}, "readonly of 'm' names 'red'"),
        ({"failures": {"red": 1}}, "failures of 'm' names 'red'"),
        ({"step": lambda state, call: (True, state)}, "must take"),
    ],
)
def test_a_model_without_sense_is_refused(given, words):
    sound = {"initial": 0, "operations": {"read": 0}, "step": lambda s, op, a, r: (True, s)}
    made = {**sound, **given}
    with pytest.raises(ValueError, match=words):
        CompiledModel("m", **made)


@pytest.mark.parametrize("call", [Call("go", (), None), Call("stop", (1,), None), Call("go", (1 << 62,), None)])
def test_calls_that_are_none_are_refused(call):
    operation = Operation(0, call.f, call.arguments, None, 0, 1)
    for engine in ("auto", "python"):
        with pytest.raises(ValueError, match=r"takes 1 argument|no operation 'stop'|does not fit a word"):
            check(History("h", [operation]), faulty(lambda s, op, a, r: (True, s)), engine=engine)


def test_a_step_that_forgets_lost_results_is_told():
    model = CompiledModel("strict", 0, {"swap": 1}, lambda s, op, a, r: (r == s, a))
    lost = Operation(0, "swap", (1,), UNKNOWN, 0, None)
    with pytest.raises(ValueError, match=r"compare results with fits\(result, expected\)"):
        check(History("h", [lost, Operation(1, "swap", (2,), 0, 1, 2)]), model)


def test_words_stand_for_things():
    words = OWN["lease"].words
    things = [0, -5, True, None, UNKNOWN, "a", ("a", 1), 2.5, (1 << 61)]
    assert [words.thing(words.word(thing)) for thing in things] == things
    assert words.word("a") == words.word("".join(["a"])) != words.word("b")
    assert words.word(1.0) == 1
    assert words.word([]) not in (NOTHING, words.word(0))


def test_a_step_is_compiled_once():
    assert compile_step(OWN["bank"]) is compile_step(OWN["bank"])
