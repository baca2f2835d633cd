"""Every reduction of a linearizable history is linearizable, by brute force; a shrunk one is a violation."""

import random

import pytest
from criteria_brute import scrambled_history
from lincheck_brute import brute

from latchfree_lincheck import History, Operation, check, shrink
from latchfree_lincheck.shrinking import increments, reductions
from latchfree_lincheck.shrinking.tokens import knowledge_of, leave_out
from latchfree_model import BLOCKED, UNKNOWN, Call, get_model

MENUS = {
    "register": [("read", ()), ("write", (1,)), ("write", (2,)), ("write", (3,))],
    "cas-register": [
        ("read", ()),
        ("write", (1,)),
        ("cas", (1, 2)),
        ("cas", (None, 1)),
        ("cas", (2, 3)),
        ("cas", (3, 1)),
    ],
    "map": [
        ("get", ("k",)),
        ("put", ("k", 1)),
        ("put", ("k", 2)),
        ("put", ("k", 3)),
        ("remove", ("k",)),
        ("put_if_absent", ("k", 1)),
        ("replace", ("k", 2)),
        ("replace_if", ("k", 1, 3)),
        ("remove_if", ("k", 2)),
        ("contains", ("k",)),
    ],
    "whole-map": [
        ("get", ("k",)),
        ("put", ("k", 1)),
        ("put", ("j", 2)),
        ("remove", ("k",)),
        ("size", ()),
        ("snapshot", ()),
        ("clear", ()),
    ],
    "set": [("add", (1,)), ("add", ((2, 3),)), ("remove", (1,)), ("contains", (1,)), ("snapshot", ()), ("size", ())],
    "element": [("add", (1,)), ("remove", (1,)), ("contains", (1,))],
    "queue": [("enqueue", (1,)), ("enqueue", (2,)), ("enqueue", (3,)), ("dequeue", ()), ("dequeue", ())],
    "bounded-queue:2": [("enqueue", (1,)), ("enqueue", (2,)), ("enqueue", (3,)), ("dequeue", ())],
    "stack": [("push", (1,)), ("push", (2,)), ("push", (3,)), ("pop", ()), ("pop", ())],
    "priority-queue": [("insert", (1,)), ("insert", (2,)), ("insert", (3,)), ("pop_min", ())],
    "topic-index": [
        ("subscribe", ("*", 1)),
        ("subscribe", ("b", 2)),
        ("unsubscribe", ("b", 2)),
        ("match", ("b",)),
        ("snapshot", ()),
    ],
    "mutex": [("acquire", ()), ("release", ()), ("try_acquire", ())],
    "counter": [("add", (1,)), ("add", (2,)), ("add", (-2,)), ("read", ())],
}
NAMES = {"whole-map": "map", "element": "set"}
WITH_TOKENS = [name for name in MENUS if name not in ("mutex", "counter", "element")]


def model_of(name):
    return get_model(NAMES.get(name, name))


def legal_history(name, seed, most=7):
    """Return a linearizable history: calls take effect at an instant between invocation and return.

    Every operation has a process of its own: real time alone matters to linearizability. Some histories overlap much
    and some not at all; some hide many results and some none.
    """
    rng = random.Random(f"{name} {seed}")
    model, operations = model_of(name), []
    state = model.init()
    losing, hiding, spread = rng.choice((0, 0.1, 0.4)), rng.choice((0, 0, 0.1, 0.5)), rng.choice((4, 30))
    for at in range(rng.randint(2, most)):
        f, arguments = rng.choice(MENUS[name])
        result, after = model.apply(state, Call(f, arguments, UNKNOWN))
        if result is BLOCKED:
            continue
        state, lost = after, rng.random() < losing
        result = UNKNOWN if lost or rng.random() < hiding else result
        invoke, return_ = 10 * at - rng.randrange(spread), 10 * at + 1 + rng.randrange(spread)
        operations.append(Operation(at, f, arguments, result, invoke, None if lost else return_))
    return operations


def reduced(name, operations, rng):
    """Yield the name of each reduction, and what it makes of the operations."""
    model = model_of(name)
    completed = [each for each in operations if each.return_ is not None]
    if completed:
        yield "part", reductions.part(operations, model, rng.choice(completed))
        yield "prefix", reductions.prefix(operations, rng.choice(completed).return_)
    yield "optional", reductions.optional(operations, {at for at in range(len(operations)) if rng.random() < 0.4})
    yield "effectless", [e for e in operations if not reductions.effectless(e, model) or rng.random() < 0.5]
    for first in reductions.cuts(operations, model):
        yield "cut", reductions.after_cut(operations, first)
    if name == "counter":
        chosen = {at for at in range(len(operations)) if rng.random() < 0.7}
        yield "merged", increments.merged(increments.forgotten(operations, chosen))
    for knowledge in knowledge_of(model, operations):
        found = {knowledge.token(each) for each in operations} - {None}
        gone = {token for token in sorted(found, key=repr) if rng.random() < 0.5}
        left = leave_out(knowledge, operations, gone)
        if left is not None and gone:
            yield "tokens", left


def unsound(name, seeds):
    """Return reductions of linearizable histories that are not, and how often each was tried."""
    wrong, tried = [], {}
    for seed in seeds:
        operations, rng = legal_history(name, seed), random.Random(seed)
        assert brute(operations, model_of(name)), seed
        for reduction, left in reduced(name, operations, rng):
            tried[reduction] = tried.get(reduction, 0) + (len(left) < len(operations) or reduction == "optional")
            if not brute(left, model_of(name)):
                wrong.append((seed, reduction))
    return wrong, tried


@pytest.mark.parametrize("name", MENUS)
def test_reductions_keep_linearizability(name):
    wrong, tried = unsound(name, range(3000 if name == "map" else 800))
    assert not wrong
    assert all(tried[each] > 20 for each in ("prefix", "optional", "effectless"))
    assert name not in WITH_TOKENS or tried["tokens"] > 20
    assert name != "counter" or tried["merged"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", MENUS)
def test_reductions_keep_linearizability_of_many(name):
    wrong, _ = unsound(name, range(10_000, 30_000))
    assert not wrong


RARE = [
    ("queue", [("enqueue", (1,), None), ("enqueue", (2,), None), ("dequeue", (), UNKNOWN), ("dequeue", (), 2)], {1}),
    (
        "map",
        [
            ("put", ("k", 1), None),
            ("put_if_absent", ("k", 2), UNKNOWN),
            ("remove", ("k",), 1),
            ("get", ("k",), None),
        ],
        {("k", 1)},
    ),
    (
        "map",
        [
            ("put", ("k", 2), None),
            ("put", ("k", 1), 2),
            ("remove", ("k",), 1),
            ("get", ("k",), None),
            ("put", ("k", 1), None),
            ("remove", ("k",), 1),
        ],
        {("k", 1)},
    ),
]


@pytest.mark.parametrize(("name", "rows", "gone"), RARE)
def test_rare_cases_are_refused_or_sound(name, rows, gone):
    model = get_model(name)
    operations = [Operation(t, f, arguments, result, 2 * t, 2 * t + 1) for t, (f, arguments, result) in enumerate(rows)]
    assert brute(operations, model)
    for knowledge in knowledge_of(model, operations):
        left = leave_out(knowledge, operations, gone)
        assert left is None or brute(left, model)


@pytest.mark.parametrize("name", MENUS)
def test_a_shrunk_history_is_a_violation_and_no_larger(name):
    model, shrunk = model_of(name), 0
    for seed in range(150):
        history = scrambled_history(model, MENUS[name], seed, most=8)
        verdict = check(history, model, engine="python")
        if verdict.verdict != "violation":
            continue
        small = shrink(history, model)
        assert not brute(small.operations, model), seed
        assert len(small) <= len(history)
        assert shrink(history, model) == small
        shrunk += 1
    assert shrunk > 10


@pytest.mark.parametrize("name", ["register", "queue", "map"])
def test_leaving_out_writes_alone_is_caught(name, monkeypatch):
    """The wrong shrinker: it drops what wrote a value and leaves what read it."""

    def careless(knowledge, operations, gone):
        return [e for e in operations if knowledge.token(e) not in gone or e.f in ("read", "get", "dequeue")]

    monkeypatch.setitem(globals(), "leave_out", careless)
    wrong, _ = unsound(name, range(300))
    assert {reduction for _, reduction in wrong} == {"tokens"}


def test_a_cut_that_something_overlaps_is_caught(monkeypatch):
    def careless(operations, model):
        return [each for each in operations if each.return_ is not None and each.f in model.overwriting]

    monkeypatch.setattr(reductions, "cuts", careless)
    wrong, _ = unsound("register", range(400))
    assert "cut" in {reduction for _, reduction in wrong}


def test_merging_adds_that_somebody_overlaps_is_caught(monkeypatch):
    together = increments.merged

    def careless(operations):
        return together([each for each in operations if each.f == "add"]) + [e for e in operations if e.f != "add"]

    monkeypatch.setattr(increments, "merged", careless)
    wrong, _ = unsound("counter", range(800))
    assert "merged" in {reduction for _, reduction in wrong}


def test_history_objects_are_kept_apart():
    stale = [Operation(0, "write", (1,), None, 0, 1, "x"), Operation(1, "read", (), None, 2, 3, "x")]
    other = [Operation(2, "write", (9,), None, 0, 1, "y")]
    small = shrink(History("two", [*other, *stale]), "register")
    assert {each.object for each in small.operations} == {"x"}
