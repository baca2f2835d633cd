"""The SMT judge against brute force on every history of two, three and four operations over a few calls.

`Orders`, the encoding that `check(engine="smt")` uses, is asked about thousands of histories by one solver: who makes
which call, who returned before whom, and who is pending are assumptions.
"""

import pytest
import z3
from lincheck_brute import brute
from lincheck_shapes import (
    UNIVERSES,
    as_history,
    brute_force,
    count,
    histories,
    model_of,
    precedes,
    shapes,
    transitions,
)

from latchfree_lincheck import check
from latchfree_lincheck.engine.smt import orders as smt_orders
from latchfree_lincheck.engine.smt.orders import Orders

LONGER = ("register", "queue", "stack", "priority-queue", "mutex")
"""Few enough calls for five operations."""


def disagreements(name, operations, every=1):
    """Ask about every so-manieth history; return those that are judged wrong, and how many are linearizable or not."""
    calls = UNIVERSES[name]
    steps = transitions(model_of(name), calls, operations)
    numbers = range(operations)
    pairs = [(i, j) for i in numbers for j in numbers if i != j]
    orders = Orders(steps, [range(len(calls))] * operations, (), pairs, z3.Context())
    wrong, seen = [], {True: 0, False: 0}
    for shape in shapes(operations):
        made = list(histories(shape, calls))[::every]
        fixed = [orders.before[pair] for pair in precedes(shape)]
        fixed += [orders.effect[i] for i, (_, _, pending) in enumerate(shape) if not pending]
        for chosen, expected in zip(made, brute_force(steps, shape, made).tolist(), strict=True):
            answer = orders.ask([*fixed, *(orders.makes[i][call] for i, call in enumerate(chosen))])
            seen[expected] += 1
            if answer != (z3.sat if expected else z3.unsat):
                wrong.append((shape, chosen))
    return wrong, seen


@pytest.mark.parametrize("name", UNIVERSES)
def test_agrees_with_brute_force(name):
    for operations, every in ((2, 1), (3, 7), (4, 401)):
        wrong, seen = disagreements(name, operations, every)
        assert not wrong
        assert min(seen.values()) > 4, operations


@pytest.mark.slow
@pytest.mark.parametrize("operations", [2, 3, 4])
@pytest.mark.parametrize("name", UNIVERSES)
def test_agrees_with_brute_force_on_all(name, operations):
    wrong, seen = disagreements(name, operations)
    assert not wrong
    assert sum(seen.values()) == count(name, operations)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONGER)
def test_agrees_with_brute_force_on_all_of_five(name):
    wrong, seen = disagreements(name, 5)
    assert not wrong
    assert sum(seen.values()) == count(name, 5)


def test_shapes_are_the_interval_orders():
    orders = [{tuple(row[:2] for row in shape) for shape in shapes(operations)} for operations in range(1, 6)]
    assert [len(found) for found in orders] == [1, 2, 5, 15, 53]


@pytest.mark.parametrize("name", ["register", "map", "set", "queue"])
def test_the_oracle_is_the_one_on_operations(name):
    calls, model = UNIVERSES[name], model_of(name)
    steps = transitions(model, calls, 3)
    assert len(list(shapes(3))) > 2
    for shape in shapes(3):
        made = list(histories(shape, calls))[::13]
        for chosen, expected in zip(made, brute_force(steps, shape, made).tolist(), strict=True):
            history = as_history(shape, [calls[number] for number in chosen])
            assert brute(history.operations, model) == expected


@pytest.mark.parametrize("name", UNIVERSES)
def test_the_engine_agrees_with_its_encoding(name):
    calls, model = UNIVERSES[name], model_of(name)
    steps = transitions(model, calls, 4)
    checked = 0
    for shape in shapes(4)[::9]:
        made = list(histories(shape, calls))[::1201]
        checked += len(made)
        for chosen, expected in zip(made, brute_force(steps, shape, made).tolist(), strict=True):
            verdict = check(as_history(shape, [calls[number] for number in chosen]), model, engine="smt")
            assert verdict.verdict == ("ok" if expected else "violation")
    assert checked > 5


@pytest.mark.parametrize("method", ["_stand_in_order", "_stand_somewhere"])
def test_an_encoding_that_leaves_something_out_is_caught(method, monkeypatch):
    monkeypatch.setattr(smt_orders.Orders, method, lambda *_: None)
    assert disagreements("register", 3)[0]
