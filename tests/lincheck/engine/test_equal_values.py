"""Values of different kinds that are equal, and NaN: all engines decide alike, whatever way the values come in."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from lincheck_random import KINDS, model_of, random_history

from latchfree_lincheck import Columns, History, check, check_many
from latchfree_lincheck.history import Operation
from latchfree_model import UNKNOWN
from latchfree_model.models.values import NAN, canonical, whole

ENGINES = ("auto", "monitor", "frontier", "wgl", "python")
ALIKE = {
    0: [0, False, 0.0, -0.0, Decimal(0), Fraction(0), np.int64(0), np.float32(0), 0j],
    1: [1, True, 1.0, Decimal(1), Fraction(1), np.int8(1), np.bool_(True), 1 + 0j],
    2: [math.nan, float("nan"), np.float64("nan"), Decimal("nan"), -math.nan, complex(math.nan, 1), NAN],
    3: [(1, math.nan), (True, float("nan"))],
    4: [frozenset({1, math.nan}), frozenset({True, float("nan")})],
    5: ["1", "".join(["", "1"])],
    6: [b"1", memoryview(b"1").tobytes()],
}
RESULTS = {4: [{1, math.nan}, {True, float("nan")}], 6: [bytearray(b"1")]}


def dressed(rng, value, result=False):
    """Return something equal to a small number's stand-in, of any kind."""
    if value is True or value is False:
        return rng.choice(ALIKE[int(value)])
    if not isinstance(value, int):
        return value
    return rng.choice(ALIKE[value] + (RESULTS.get(value, []) if result else []))


def disguise(history, kind, seed):
    """Replace the values of a history by things that are equal where the values were, each of any kind."""
    rng = random.Random(seed)
    shift = {0: 0, 1: 1, 2: rng.randrange(2, 7)} if kind not in ("counter", "priority-queue") else {0: 0, 1: 1}
    keyed = kind.removeprefix("whole-") in ("map", "set")

    def value(thing, result=False):
        if isinstance(thing, bool) or not isinstance(thing, int) or kind == "counter":
            thing = dressed(rng, thing, result) if type(thing) is not int or thing in (0, 1) else thing
        elif thing in shift:
            thing = dressed(rng, shift[thing], result)
        # The items of a priority queue have an order.
        return thing.real if kind == "priority-queue" and isinstance(thing, complex) else thing

    def key(thing):
        return rng.choice(ALIKE["abc".index(thing)])

    operations = []
    for each in history.operations:
        f = each.f
        arguments = [key(thing) if keyed and not place else value(thing) for place, thing in enumerate(each.arguments)]
        result = each.result
        if f == "snapshot" and result is not UNKNOWN:
            pairs = result.items() if isinstance(result, dict) else result
            result = [key(k) for k in pairs] if kind == "whole-set" else [(key(k), value(v)) for k, v in pairs]
        elif f == "size":
            result = dressed(rng, result) if result in (0, 1) else result
        elif result is not UNKNOWN:
            result = value(result, True)
        if kind == "counter":
            arguments = each.arguments
        operations.append(Operation(each.process, f, tuple(arguments), result, each.invoke, each.return_))
    return History(history.name, operations)


def verdicts(history, model, engines=ENGINES):
    """Return the verdict of each engine that has one."""
    found = {engine: check(history, model, engine=engine) for engine in engines}
    return {engine: each.verdict for engine, each in found.items() if each.verdict != "unknown"}


def as_columns(history):
    """Return the same operations as columns."""
    rows = history.operations
    arguments = [
        [row.arguments[place] if place < len(row.arguments) else UNKNOWN for row in rows] for place in range(3)
    ]
    return Columns.of(
        [row.process for row in rows],
        [row.f for row in rows],
        arguments,
        [row.result for row in rows],
        np.array([row.invoke for row in rows]),
        np.ma.masked_array([row.return_ or 0 for row in rows], [row.return_ is None for row in rows]),
        None,
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "append-kv"])
def test_a_disguise_changes_no_verdict_in_any_engine(kind):
    told = set()
    for seed in range(40):
        plain = random_history(kind, seed)
        truth = check(plain, model_of(kind)).verdict
        hidden = disguise(plain, kind, seed)
        assert set(verdicts(hidden, model_of(kind)).values()) == {truth}, hidden.operations
        told.add(truth)
    assert told == {"ok", "violation"}


@pytest.mark.parametrize("kind", ["map", "register", "queue", "set"])
def test_columns_are_read_alike(kind):
    for seed in range(40):
        hidden = disguise(random_history(kind, seed), kind, seed)
        try:
            columns = as_columns(hidden)
        except TypeError:  # a result that cannot be in a table
            continue
        alone = check(hidden, model_of(kind)).verdict
        found = check_many(columns, [0] * len(hidden), model_of(kind))
        assert found.verdict[0] == alone, (found.reason[0], hidden.operations)


def test_the_smt_judge_reads_values_alike():
    for kind in ("map", "cas-register"):
        for seed in range(6):
            hidden = disguise(random_history(kind, seed, 5), kind, seed)
            assert len(set(verdicts(hidden, model_of(kind), ("python", "smt")).values())) == 1


@pytest.mark.parametrize("engine", [*ENGINES, "smt"])
def test_a_nan_that_was_written_may_be_read(engine):
    write = Operation(0, "write", (math.nan,), None, 0, 1)
    read = Operation(0, "read", (), float("nan"), 2, 3)
    other = Operation(0, "read", (), 0.5, 2, 3)
    assert check(History("h", [write, read]), "register", engine=engine).verdict == "ok"
    assert check(History("h", [write, other]), "register", engine=engine).verdict == "violation"


@pytest.mark.parametrize("engine", ["auto", "python", "frontier"])
@pytest.mark.parametrize("items", [(math.nan,), (1, math.nan), (frozenset({1}), frozenset({2}))])
def test_items_without_an_order_are_no_items_of_a_priority_queue(items, engine):
    inserts = [Operation(0, "insert", (item,), None, 2 * at, 2 * at + 1) for at, item in enumerate(items)]
    with pytest.raises(ValueError, match="have no order"):
        check(History("h", inserts), "priority-queue", engine=engine)


def test_a_table_holds_each_thing_once():
    from latchfree_lincheck import Column

    column = Column.of(Column(np.array([0, 1, 2, -1, -2, 3]), [0.0, -0.0, math.nan, float("nan")]))
    assert column.codes.tolist() == [0, 0, 1, -1, -2, 1]


def test_canonical_values():
    assert canonical(math.nan) == NAN
    assert float("nan") == NAN
    assert hash(canonical(Decimal("nan"))) == hash(NAN)
    assert NAN not in (1, "nan")
    assert canonical((1, (2, math.nan))) == (1, (2, NAN))
    thing = (1, ("a", frozenset({2})))
    assert canonical(thing) is thing
    assert canonical([math.nan, {"a": math.nan}]) == [NAN, {"a": NAN}]
    assert [whole(each) for each in (3, 3.0, Fraction(3), 3 + 0j, True, np.int8(3))] == [3, 3, 3, 3, 1, 3]
    assert [whole(each) for each in (3.5, math.nan, math.inf, "3", None, 3 + 1j)] == [None] * 6
