"""Sketches under threads: nothing is lost, counts are as if added one by one, recorded runs are judged."""

import itertools

import numpy as np
import pytest
from threads_together import together

from latchfree import Arena
from latchfree.sketches import Bloom, CountMin, HyperLogLog, InverseBloom
from latchfree.sketches.common.items import CHUNK
from latchfree_lincheck import History, Operation, check, judge
from latchfree_model import Call, SequentialModel

THREADS = 4
SMALL = {"bloom": (Bloom, 64), "hll": (HyperLogLog, 0.26), "count": (CountMin, 0.5)}


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("shared", [False, True])
def test_threads_make_what_one_makes(kind, shared, shared_name):
    """In few words, so that threads meet: the cells are those of one thread that added everything."""
    make, size = SMALL[kind]
    items = np.arange(8 * CHUNK)
    alone = make(size)
    alone.add_many(items)
    for round_ in range(3):
        with Arena.create(name=f"{shared_name}-{round_}", capacity=8 << 20) as arena:
            sketch = make.create(arena, "s", size) if shared else make(size)
            together(*[lambda n=n, s=sketch: s.add_many(items[n::THREADS]) for n in range(THREADS)])
            assert sketch.to_bytes() == alone.to_bytes()
            arena.unlink()


def test_single_calls_of_threads():
    sketches = [make(size) for make, size in SMALL.values()]

    def add(number):
        for item in range(number, 400, THREADS):
            for sketch in sketches:
                sketch.add(str(item))

    together(*[lambda n=n: add(n) for n in range(THREADS)])
    for sketch, (make, size) in zip(sketches, SMALL.values(), strict=True):
        alone = make(size)
        alone.add_many([str(item) for item in range(400)])
        assert sketch.to_bytes() == alone.to_bytes()


def test_a_conservative_sketch_loses_no_count():
    """Never too low, never higher than a plain one, and nothing stays announced."""
    rounds, sketch, plain = 6, CountMin(0.05, 0.9, conservative=True), CountMin(0.05, 0.9)
    items = np.arange(4 * CHUNK) % 101
    for _ in range(rounds):
        together(*[lambda: sketch.add_many(items) for _ in range(THREADS)])
    for _ in range(rounds * THREADS):
        plain.add_many(items)
    truth = np.bincount(items) * rounds * THREADS
    found, most = (each.estimate_many(np.arange(101)) for each in (sketch, plain))
    assert (found >= truth).all()
    assert (found <= most).all()
    place = sketch._place
    assert int(place._words[place.root + 17]) == 0


def test_merging_while_others_add():
    target, parts = CountMin(0.05), [CountMin(0.05) for _ in range(THREADS)]
    items = np.arange(2 * CHUNK)
    for part in parts:
        part.add_many(items)
    together(*[lambda p=part: target.merge(p) for part in parts], lambda: target.add_many(items))
    alone = CountMin(0.05)
    for _ in range(THREADS + 1):
        alone.add_many(items)
    assert target.to_bytes() == alone.to_bytes()


def test_one_of_many_is_told_that_an_item_is_new():
    """Each item is added by every thread, in an order of its own; few share a slot."""
    items = np.arange(300)
    fresh = InverseBloom(1 << 20)
    seen = [None] * THREADS

    def add(number):
        order = np.roll(items, 50 * number)
        answers = np.empty(len(items), bool)
        answers[order] = fresh.add_many(order)
        seen[number] = answers

    together(*[lambda n=n: add(n) for n in range(THREADS)])
    kept = fresh.contains_many(items)
    new = THREADS - np.sum(seen, axis=0)
    assert (new[kept] >= 1).all()
    assert np.count_nonzero(new == 1) > 290


# recorded runs -------------------------------------------------------------------------------------------------------


class DifferentModel(SequentialModel[frozenset]):
    """``add(x)``, and ``estimate()``: how many different items, as a sketch alone answers."""

    name = "different items"
    operations = {"add": 1, "estimate": 0}  # noqa: RUF012 -- a constant
    queries = frozenset({"estimate"})

    def init(self):
        return frozenset()

    def apply(self, state, call: Call):
        if call.f == "add":
            return None, state | {call.arguments[0]}
        sketch = HyperLogLog(0.26)
        sketch.add_many(sorted(state))
        return sketch.estimate(), state


def recorded(bodies):
    """Run generators of (f, arguments, call) in threads that meet; return the history."""
    ticket, operations = itertools.count(), []

    def run(process, body):
        for f, arguments, call in body:
            invoke = next(ticket)
            result = call()
            operations.append(Operation(process, f, arguments, result, invoke, next(ticket)))

    together(*[lambda p=p, b=body: run(p, b) for p, body in enumerate(bodies)])
    return History("sketch", operations)


@pytest.mark.parametrize("conservative", [False, True])
def test_estimates_of_a_recorded_run_are_intermediate_values(conservative):
    sketch = CountMin(0.001, conservative=conservative)
    adds = [[("add", (n + 1,), lambda n=n: sketch.add("x", n + 1)) for _ in range(60)] for n in range(3)]
    reads = [[("read", (), lambda: sketch.estimate("x")) for _ in range(60)] for _ in range(2)]
    history = recorded([*adds, *reads])
    assert judge(history, "counter", criterion="intermediate-value").verdict == "ok"
    last = Operation(9, "read", (), sketch.estimate("x") - 1, 10**6, 10**6 + 1)
    lost = History("lost", [*history.operations, last])
    assert judge(lost, "counter", criterion="intermediate-value").verdict == "violation"


def test_answers_of_a_hyperloglog_are_intermediate_values():
    sketch = HyperLogLog(0.26)
    adds = [[("add", (item,), lambda item=item: sketch.add(item)) for item in range(n, 90, 3)] for n in range(3)]
    reads = [[("estimate", (), sketch.estimate) for _ in range(30)] for _ in range(2)]
    history = recorded([*adds, *reads])
    assert judge(history, DifferentModel(), criterion="intermediate-value").verdict == "ok"
    late = History("late", [*history.operations, Operation(9, "estimate", (), 0.5, 10**6, 10**6 + 1)])
    assert judge(late, DifferentModel(), criterion="intermediate-value").verdict == "violation"


class TableModel(SequentialModel[frozenset]):
    """One item, alone in its slot: seen after the first add."""

    name = "table"
    operations = {"add": 1}  # noqa: RUF012 -- a constant

    def init(self):
        return frozenset()

    def apply(self, state, call: Call):
        return call.arguments[0] in state, state | {call.arguments[0]}


def test_a_recorded_run_of_the_inverse_filter_is_linearizable():
    sketch = InverseBloom(1 << 20)
    history = recorded(
        [[("add", (item,), lambda item=item: sketch.add(item)) for item in range(40)] for _ in range(THREADS)]
    )
    assert check(history, TableModel()).verdict == "ok"
    twice = [Operation(9, "add", (1,), False, 10**6, 10**6 + 1)]
    assert check(History("twice", [*history.operations, *twice]), TableModel()).verdict == "violation"
