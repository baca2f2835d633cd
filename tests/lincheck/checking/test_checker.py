"""What `check` promises beyond the verdict: locality, deadlines, bounds, explanations."""

import subprocess
import sys
from dataclasses import replace

import pytest
from lincheck_brute import assert_order
from lincheck_random import model_of, random_history

from latchfree_lincheck import History, Operation, check
from latchfree_model import UNKNOWN, MapModel, RegisterModel, get_model

ENGINES = ("python", "wgl", "frontier", "auto")


def sequential(calls):
    """Return operations of one process, one after the other."""
    return [Operation(0, f, arguments, result, 2 * t, 2 * t + 1) for t, (f, arguments, result) in enumerate(calls)]


def ambiguous(writers, rounds):
    """Return a history with no order: concurrent blind writes of few values, and at last a read of another."""
    operations = []
    for turn in range(rounds):
        start = 100 * turn
        operations += [Operation(w, "write", (w,), None, start + w, start + 50 + w) for w in range(writers)]
    return [*operations, Operation("reader", "read", (), "never written", 100 * rounds, 100 * rounds + 1)]


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_and_all_pending(engine):
    assert check(History("empty", []), "map", engine=engine).witness == []
    lost = History("lost", [Operation(0, "put", (1, 1), UNKNOWN, 1, None)])
    assert check(lost, "map", engine=engine).verdict == "ok"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_explanation_names_the_call_the_reason_and_what_ran(engine):
    operations = [*sequential([("put", ("k", 1), None), ("get", ("k",), 2)]), Operation(1, "get", ("k",), 1, 2, 9)]
    verdict = check(History("h", operations), "map", engine=engine)
    assert (verdict.verdict, verdict.failing, list(verdict.partial)) == ("violation", 1, [0, 2])
    text = verdict.explain()
    assert "no order explains get('k') by process 0" in text
    assert "get('k') returned 2, but key 'k' held 1" in text
    assert "process 1: get('k') -> 1, from 2 to 9" in text


def test_ties_overlap():
    operations = [Operation(0, "write", (1,), None, 1, 5), Operation(1, "read", (), None, 5, 6)]
    assert check(History("tie", operations), "register").verdict == "ok"


@pytest.mark.parametrize("engine", ENGINES)
def test_objects_are_independent(engine):
    calls = sequential([("write", (1,), None), ("read", (), None)])
    one = History("one", calls)
    two = History("two", [replace(each, object=name) for each, name in zip(calls, "xy", strict=True)])
    assert check(one, "register", engine=engine).verdict == "violation"
    assert check(two, "register", engine=engine).verdict == "ok"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadline_makes_it_unknown(engine):
    verdict = check(History("hard", ambiguous(16, 16)), "register", timeout=0.2, engine=engine)
    assert verdict.verdict == "unknown"
    assert verdict.reason.startswith("timeout of 0.2 s reached")
    assert verdict.seconds < 60, "far beyond what looking at the clock now and then explains"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_memory_bound_makes_it_unknown(engine):
    verdict = check(History("hard", ambiguous(14, 14)), "register", timeout=600, memory=1 << 20, engine=engine)
    assert verdict.verdict == "unknown"
    assert verdict.reason == "memory bound of 1 MB reached"


def test_long_strings_respect_the_memory_bound():
    text = "".join(map(chr, range(32, 5000)))
    history = History("long", sequential([("append", ("k", text), None), ("get", ("k",), text)]))
    assert check(history, "append-kv").verdict == "ok"
    assert check(history, "append-kv", memory=1 << 16).verdict == "unknown"


@pytest.mark.parametrize("engine", ENGINES)
def test_twenty_lost_writes_are_no_trouble(engine):
    lost = [Operation(f"lost {i}", "write", (i,), UNKNOWN, i, None) for i in range(20)]
    reads = [Operation("r", "read", (), i, 100 + 2 * i, 101 + 2 * i) for i in range(20)]
    assert check(History("lost", [*lost, *reads]), "register", timeout=600, engine=engine).verdict == "ok"
    twice = Operation("r", "read", (), 0, 200, 201)
    verdict = check(History("twice", [*lost, *reads, twice]), "register", timeout=600, engine=engine)
    assert verdict.verdict == "violation"
    assert verdict.failing == 40


def test_many_keys_that_clears_may_have_emptied_or_not():
    """A frontier of single configurations has 3 to the power of 24; a product of 24 keys has three each."""
    puts = [Operation(k, "put", (k, k), None, k, 200 + k) for k in range(24)]
    clears = [Operation(f"clear {i}", "clear", (), None, 50, 150) for i in range(2)]
    reads = [Operation("reader", "get", (k,), k if k % 2 else None, 300 + 2 * k, 301 + 2 * k) for k in range(24)]
    history = History("puts around clears", [*puts, *clears, *reads])
    assert check(history, "map", timeout=60).verdict == "ok"
    history = History("one more", [*history.operations, Operation("reader", "get", (0,), 0, 400, 401)])
    verdict = check(history, "map", timeout=60)
    assert (verdict.verdict, verdict.engine, verdict.failing) == ("violation", "product", 50)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["map", "whole-map", "cas-register"])
def test_long_histories_with_quiescent_points(kind, seed):
    operations, time = [], 0
    model = model_of(kind)
    for part in range(3200):
        one = random_history(kind, seed * 10_000 + part)
        verdict = check(one, model, engine="python")
        if verdict.verdict == "ok" and all(each.return_ is not None for each in one.operations):
            order = [one.operations[index] for index in verdict.witness]
            reset = _undo(kind, order, model)
            for shift, each in [(time, each) for each in one.operations] + [(time + 100, each) for each in reset]:
                operations.append(replace(each, invoke=each.invoke + shift, return_=each.return_ + shift))
            time += 1000
    history = History("long", operations)
    assert len(operations) > 4096
    for engine in ENGINES:
        verdict = check(history, model, engine=engine)
        assert verdict.verdict == "ok", verdict.explain()
        assert assert_order(history, model, verdict.witness) == set(range(len(operations)))
    bad = len(operations) * 3 // 4
    while operations[bad].f not in ("get", "read"):
        bad += 1
    operations[bad] = replace(operations[bad], result="never written")
    for engine in ENGINES:
        verdict = check(History("bad", operations), model, engine=engine)
        assert (verdict.verdict, verdict.failing) == ("violation", bad)


def _undo(kind, order, model):
    """Return operations that bring the object back to where it began."""
    if kind == "cas-register":
        return [Operation("undo", "write", (None,), None, 100, 101)]
    state = model.init()
    for each in order:
        _, state = model.step(state, each.call)
    undo = []
    for turn, (key, value) in enumerate(sorted(state)):
        undo.append(Operation("undo", "remove", (key,), value, 100 + 2 * turn, 101 + 2 * turn))
    return undo


@pytest.mark.parametrize("engine", ENGINES)
def test_the_configurations_at_a_quiescent_point_are_all_kept(engine):
    operations = []
    for turn in range(3000):
        start = 10 * turn
        operations.append(Operation(0, "write", (1,), None, start, start + 3))
        operations.append(Operation(1, "write", (2,), None, start + 1, start + 4))
        operations.append(Operation(2, "read", (), 1 + turn % 2, start + 5, start + 6))
    history = History("either", operations)
    verdict = check(history, "register", engine=engine)
    assert verdict.verdict == "ok"
    assert assert_order(history, RegisterModel(), verdict.witness) == set(range(len(operations)))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("model", "late", "calls"),
    [
        ("map", ("clear", ()), [("put", ("k", 1), None), ("get", ("k",), None)]),
        ("register", ("write", (None,)), [("write", (1,), None), ("read", (), None)]),
    ],
)
def test_what_changes_nothing_now_may_change_something_later(model, late, calls, engine):
    f, arguments = late
    whole = [Operation(1, "size", (), 0, -2, -1)] if model == "map" else []
    operations = [*whole, Operation(2, f, arguments, None, 0, 10), *sequential(calls)]
    assert check(History("late", operations), model, engine=engine).verdict == "ok"


def test_any_model_will_do():
    class Counter:
        name = "counter"

        def init(self):
            return 0

        def step(self, state, call):
            return call.result in (UNKNOWN, state), state + 1

        def describe(self, state, call):
            return f"{call} returned {call.result}, but the counter held {state}"

        def partition(self, call):
            return None

    good = History("good", sequential([("next", (), 0), ("next", (), 1)]))
    bad = History("bad", sequential([("next", (), 0), ("next", (), 2)]))
    assert check(good, Counter()).verdict == "ok"
    assert check(bad, Counter()).message == "next() returned 2, but the counter held 1"
    with pytest.raises(ValueError, match="the engine 'wgl' does not know the model 'counter'; use engine='python'"):
        check(good, Counter(), engine="wgl")


def test_a_subclass_of_a_built_in_model_is_not_taken_for_it():
    class Stubborn(MapModel):
        def apply(self, state, call):
            return "always", state

    history = History("h", sequential([("get", ("k",), "always")]))
    assert check(history, Stubborn()).verdict == "ok"
    assert check(history, "map").verdict == "violation"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("model", "call", "message"),
    [
        ("map", ("pop", ("k",), 1), "has no operation 'pop'; it has get"),
        ("map", ("get", (), 1), r"'get' of 'map' takes 1 argument"),
        ("map", ("put", ("k", None), 1), "None means that nothing is there"),
        ("append-kv", ("append", ("k", 1), None), "takes a string, not 1"),
        ("map", ("snapshot", (), 7), r"snapshot\(\) returned 7: expected a mapping"),
    ],
)
def test_calls_that_the_model_does_not_have_are_refused(engine, model, call, message):
    with pytest.raises(ValueError, match=message):
        check(History("h", sequential([call])), model, engine=engine)


@pytest.mark.parametrize(
    "calls",
    [
        [("put", ("k", 1), None), ("get", ("k",), True)],
        [("put", ("k", 1), None), ("get", ("k",), [1])],
        [("put", ("k", 1), None), ("contains", ("k",), 1)],
        [("put", ("k", 1), None), ("contains", ("k",), "yes")],
        [("put", ("k", 1), None), ("size", (), 1.0)],
        [("put", ("k", 1), None), ("size", (), float("inf"))],
        [("put", ("k", 1), None), ("size", (), "1")],
        [("put", ("k", 1), None), ("size", (), None)],
        [("replace_if", ("k", None, 1), False), ("get", ("k",), None)],
        [("replace_if", ("k", None, 1), True), ("get", ("k",), 1)],
        [("remove_if", ("k", None), False)],
        [("remove_if", ("k", None), True)],
        [("put", ("k", 1), None), ("snapshot", (), [("k", 1)])],
        [("put", ("k", 1), None), ("snapshot", (), [("k", 1), ("k", 1)])],
        [("put", ("k", 1), None), ("snapshot", (), {"k": 1, "j": 2})],
        [("put", ("k", 1), None), ("snapshot", (), {"k": 1, "j": None})],
        [("get", ("k",), None), ("snapshot", (), {"k": None})],
        [("snapshot", (), {})],
        [("snapshot", (), {"k": 1})],
        [("clear", (), "whatever")],
        [("put", ((1, 2), "v"), None), ("get", ((1, 2),), "v")],
    ],
)
def test_engines_read_odd_results_alike(calls):
    history = History("odd", sequential(calls))
    verdicts = {engine: check(history, get_model("map"), engine=engine).verdict for engine in ENGINES}
    assert len(set(verdicts.values())) == 1, verdicts


def test_importing_is_light():
    code = (
        "import sys, latchfree_lincheck as l; l.History, l.read_history, l.Recorder; "
        "assert not {'numba', 'pyarrow', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
