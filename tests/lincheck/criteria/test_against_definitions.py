"""Every criterion against its definition, which tries every order, on random small histories."""

import pytest
from criteria_brute import brute_intermediate, brute_quiescent, brute_sequential, scrambled_history
from lincheck_brute import brute

from latchfree_lincheck.criteria import judge, quiescent, sequential
from latchfree_model import Call, define, get_model

MENUS = {
    "register": [("read", ()), ("write", (1,)), ("write", (2,))],
    "cas-register": [("read", ()), ("write", (1,)), ("cas", (1, 2)), ("cas", (None, 1))],
    "map": [("get", ("k",)), ("put", ("k", 1)), ("put", ("j", 2)), ("remove", ("k",)), ("get", ("j",)), ("size", ())],
    "set": [("add", (1,)), ("add", (2,)), ("remove", (1,)), ("contains", (1,)), ("contains", (2,))],
    "counter": [("add", (1,)), ("add", (2,)), ("read", ())],
    "queue": [("enqueue", (1,)), ("enqueue", (2,)), ("dequeue", ())],
    "bounded-queue:1": [("enqueue", (1,)), ("enqueue", (2,)), ("dequeue", ())],
    "stack": [("push", (1,)), ("push", (2,)), ("pop", ())],
    "priority-queue": [("insert", (1,)), ("insert", (2,)), ("pop_min", ())],
    "mutex": [("acquire", ()), ("release", ()), ("try_acquire", ())],
    "topic-index": [
        ("subscribe", ("a.*", 1)),
        ("subscribe", ("a.b", 2)),
        ("unsubscribe", ("a.b", 2)),
        ("match", ("a.b",)),
    ],
}
BRUTE = {
    "linearizability": lambda operations, model: brute_objects(operations, model),
    "sequential-consistency": brute_sequential,
    "quiescent-consistency": brute_quiescent,
}


def brute_objects(operations, model):
    """Linearizability is local: ask for each object."""
    names = {operation.object for operation in operations}
    return all(brute([each for each in operations if each.object == name], model) for name in names)


def disagreements(criterion, name, seeds, most=6):
    """Return seeds on which the judge and the definition differ, and how often each verdict was right."""
    model, wrong, seen = get_model(name), [], {"ok": 0, "violation": 0}
    for seed in seeds:
        history = scrambled_history(model, MENUS[name], seed, most)
        expected = "ok" if BRUTE[criterion](history.operations, model) else "violation"
        seen[expected] += 1
        if judge(history, model, criterion=criterion).verdict != expected:
            wrong.append(seed)
    return wrong, seen


@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize("criterion", BRUTE)
def test_agrees_with_the_definition(criterion, name):
    wrong, seen = disagreements(criterion, name, range(500))
    assert not wrong
    assert min(seen.values()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize("criterion", BRUTE)
def test_agrees_with_the_definition_on_many(criterion, name):
    wrong, _ = disagreements(criterion, name, range(10_000, 15_000))
    assert not wrong


COUNTER = get_model("counter")


def sums(seeds):
    """Yield counter histories, updates returning nothing, with the verdict of the definition."""
    menu = [("add", (1,)), ("add", (3,)), ("read", ()), ("read", ())]
    for seed in seeds:
        history = scrambled_history(_Silent(), menu, seed)
        yield seed, history, "ok" if brute_intermediate(history.operations, COUNTER) else "violation"


class _Silent(type(COUNTER)):
    """A counter whose add returns nothing."""

    def apply(self, state, call):
        value, after = super().apply(state, call)
        return (None if call.f == "add" else value), after


def test_intermediate_values_agree_with_the_definition():
    seen = {"ok": 0, "violation": 0}
    for seed, history, expected in sums(range(800)):
        assert judge(history, COUNTER, criterion="intermediate-value").verdict == expected, seed
        seen[expected] += 1
    assert min(seen.values()) > 80


@pytest.mark.slow
def test_intermediate_values_agree_with_the_definition_on_many():
    for seed, history, expected in sums(range(10_000, 40_000)):
        assert judge(history, COUNTER, criterion="intermediate-value").verdict == expected, seed


def test_witnesses_hold_up():
    found = 0
    for name, menu in MENUS.items():
        model = get_model(name)
        for seed in range(100):
            history = scrambled_history(model, menu, seed)
            for criterion in ("sequential-consistency", "quiescent-consistency"):
                verdict = judge(history, model, criterion=criterion)
                states = {}
                for index in verdict.witness or verdict.partial:
                    operation = history.operations[index]
                    legal, states[operation.object] = model.step(
                        states.get(operation.object, model.init()), operation.call
                    )
                    assert legal, (name, seed, criterion)
                if verdict.verdict == "ok":
                    found += 1
                    done = {i for i, each in enumerate(history.operations) if each.return_ is not None}
                    assert done <= set(verdict.witness)
                else:
                    assert verdict.failing not in verdict.partial
                    assert verdict.message
    assert found > 500


def test_a_search_that_forgets_the_state_is_caught(monkeypatch):
    class Forgetful(set):
        def __contains__(self, node):
            return super().__contains__(node[0])

        def add(self, node):
            super().add(node[0])

    monkeypatch.setattr(sequential, "set", Forgetful, raising=False)
    monkeypatch.setattr(quiescent, "set", Forgetful, raising=False)
    for criterion in ("sequential-consistency", "quiescent-consistency"):
        wrong, _ = disagreements(criterion, "cas-register", range(1000))
        assert wrong


def test_periods_of_a_key_alone_would_be_wrong(monkeypatch):
    """Splitting a map by key is sound only with the busy periods of the whole map."""
    wrong, _ = disagreements("quiescent-consistency", "set", range(1000))
    assert not wrong
    real = quiescent._busy_periods

    def by_key(trial):
        operations = trial.operations
        trial.operations = [_renamed(each, (each.object, *each.arguments)) for each in operations]
        try:
            return real(trial)
        finally:
            trial.operations = operations

    monkeypatch.setattr(quiescent, "_busy_periods", by_key)
    wrong, _ = disagreements("quiescent-consistency", "set", range(1000))
    assert wrong


def _renamed(operation, name):
    from dataclasses import replace

    return replace(operation, object=name)


def test_nondeterministic_models_are_judged_too():
    lossy = define("lossy", None, {"write": lambda s, v: [(None, v), (None, s)], "read": lambda s: (s, s)})
    for seed in range(200):
        history = scrambled_history(get_model("register"), MENUS["register"], seed)
        for criterion, definition in BRUTE.items():
            expected = "ok" if definition(history.operations, lossy) else "violation"
            assert judge(history, lossy, criterion=criterion).verdict == expected, (seed, criterion)
    assert lossy.step(lossy.init(), Call("read", (), 3))[0] is False
