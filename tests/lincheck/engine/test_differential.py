"""`check` with every engine against the brute-force oracle on Python models, on random small histories."""

from dataclasses import replace

import pytest
from lincheck_brute import assert_order, brute, brute_failing
from lincheck_random import KINDS, model_of, random_history

from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.engine.wgl.plain import PlainSearch
from latchfree_model import UNKNOWN

QUICK = 700
ENGINES = ("python", "wgl", "frontier", "auto")


def disagreements(kind, seeds, engines=ENGINES):
    """Return seeds on which an engine and the oracle differ; count what was seen."""
    model = model_of(kind)
    wrong, seen = [], {"ok": 0, "violation": 0}
    for seed in seeds:
        history = random_history(kind, seed)
        expected = "ok" if brute(history.operations, model) else "violation"
        seen[expected] += 1
        wrong += [(seed, engine) for engine in engines if check(history, model, engine=engine).verdict != expected]
    return wrong, seen


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_brute_force(kind):
    wrong, seen = disagreements(kind, range(QUICK))
    assert not wrong
    assert min(seen.values()) > QUICK // 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_brute_force_on_many(kind):
    wrong, _ = disagreements(kind, range(10_000, 30_000))
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_witnesses_and_failures_hold_up(kind, engine):
    model = model_of(kind)
    for seed in range(20_000, 20_100):
        history = random_history(kind, seed, most=8)
        verdict = check(history, model, engine=engine)
        completed = {i for i, operation in enumerate(history.operations) if operation.return_ is not None}
        if verdict.verdict == "ok":
            assert completed <= assert_order(history, model, verdict.witness), seed
            continue
        assert verdict.failing == brute_failing(history.operations, model), seed
        explained = assert_order(history, model, verdict.partial)
        failing = history.operations[verdict.failing]
        part = model.partition(failing.call)
        for i in completed:
            other = history.operations[i]
            if other.return_ < failing.return_ and part is not None and model.partition(other.call) == part:
                assert i in explained, seed
        assert verdict.failing not in explained
        assert verdict.message


@pytest.mark.parametrize("kind", ["register", "append-kv", "set"])
@pytest.mark.parametrize("engine", ["wgl", "frontier", "auto"])
def test_of_several_objects_the_first_failure_is_told(kind, engine):
    """A part that is searched later may fail sooner; it is searched only up to the failure that is known."""
    model, several = model_of(kind), 0
    for seed in range(200):
        parts = [random_history(kind, 30_000 + 6 * seed + part).operations for part in range(6)]
        operations, failures = [], []
        for part, each in enumerate(parts):
            failing = brute_failing(each, model)
            failures += [] if failing is None else [(6 * each[failing].return_ + part, len(operations) + failing)]
            operations += [
                replace(
                    operation,
                    process=f"{part} {operation.process}",
                    object=str(part),
                    invoke=6 * operation.invoke + part,
                    return_=None if operation.return_ is None else 6 * operation.return_ + part,
                )
                for operation in each
            ]
        verdict = check(History("several", operations), model, engine=engine)
        assert verdict.failing == (min(failures)[1] if failures else None), seed
        several += len(failures) > 1 and min(failures) != failures[0]
    assert several > 10


SMALL = 60


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("whole-map", "append-kv", "counter")])
def test_the_smt_judge_agrees_with_brute_force(kind):
    model, seen = model_of(kind), set()
    for seed in range(SMALL):
        history = random_history(kind, seed, most=4)
        verdict = check(history, model, engine="smt")
        assert verdict.verdict == ("ok" if brute(history.operations, model) else "violation"), seed
        seen.add(verdict.verdict)
        if verdict.verdict == "ok":
            assert_order(history, model, verdict.witness)
        else:
            assert verdict.failing == brute_failing(history.operations, model), seed
    assert seen == {"ok", "violation"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_smt_judge_agrees_with_brute_force_on_many(kind):
    model = model_of(kind)
    for seed in range(40_000, 40_500):
        history = random_history(kind, seed, most=6)
        expected = "ok" if brute(history.operations, model) else "violation"
        assert check(history, model, engine="smt").verdict == expected, seed


SEARCHED = ("register", "cas-register", "map", "whole-map", "append-kv")


@pytest.mark.parametrize("kind", SEARCHED)
def test_a_memo_that_forgets_the_state_is_caught(kind, monkeypatch):
    monkeypatch.setattr(PlainSearch, "_key", staticmethod(lambda node: (node.high, node.holes)))
    wrong, _ = disagreements(kind, range(500), ("python",))
    assert wrong


@pytest.mark.parametrize("kind", SEARCHED)
def test_a_memo_that_forgets_the_holes_is_caught(kind, monkeypatch):
    monkeypatch.setattr(PlainSearch, "_key", staticmethod(lambda node: (node.high, node.state)))
    wrong, _ = disagreements(kind, range(4_000), ("python",))
    assert wrong


def test_a_memo_that_ignores_pending_operations_is_caught(monkeypatch):
    lost = [("write", (1,)), ("cas", (1, 2)), ("write", (2,))]
    pending = [Operation(i, f, arguments, UNKNOWN, i, None) for i, (f, arguments) in enumerate(lost)]
    reads = [Operation(3, "read", (), 2, 3, 4), Operation(3, "read", (), 1, 5, 6)]
    history = History("the third write, a read, the first write", [*pending, *reads])
    for engine in ENGINES:
        assert check(history, "cas-register", engine=engine).verdict == "ok"

    def fresh(self, number, node):
        if self._key(node) not in self._seen:
            self._seen[self._key(node)] = [node.used]
            yield number, node

    monkeypatch.setattr(PlainSearch, "_fresh", fresh)
    assert check(history, "cas-register", engine="python").verdict == "violation"
