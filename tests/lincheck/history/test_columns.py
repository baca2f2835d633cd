"""Histories made of columns are the histories made of operations, and are judged alike."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from lincheck_random import model_of, random_history

from latchfree_lincheck import Column, Columns, History, check
from latchfree_model import UNKNOWN

KINDS = ("register", "cas-register", "map", "whole-map", "append-kv", "set", "counter", "queue", "stack")


def as_columns(history):
    """Return the same history by way of columns; None where its operations cannot be told apart that way."""
    operations = history.operations
    width = max(len(each.arguments) for each in operations)
    if any(None in each.arguments for each in operations):
        return None
    if any(each.result is UNKNOWN and each.return_ is not None for each in operations):
        return None
    try:
        return History.of_columns(
            history.name,
            process=[each.process for each in operations],
            f=[each.f for each in operations],
            arguments=[
                [each.arguments[i] if i < len(each.arguments) else None for each in operations] for i in range(width)
            ],
            result=[None if each.result is UNKNOWN else each.result for each in operations],
            invoke=np.array([each.invoke for each in operations]),
            return_=pa.array([each.return_ for each in operations], pa.int64()),
        )
    except TypeError:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_the_operations_and_have_the_same_verdict(kind):
    model, compared = model_of(kind), 0
    for seed in range(400):
        history = random_history(kind, seed)
        columns = as_columns(history)
        if columns is None:
            continue
        compared += 1
        one, other = check(history, model), check(columns, model)
        assert (one.verdict, one.failing) == (other.verdict, other.failing), seed
        assert columns == history
    assert compared > 100


def columns_of(**changes):
    """Make a history of three calls, some columns replaced."""
    columns = {
        "process": np.array([0, 1, 0]),
        "f": np.array(["put", "get", "get"]),
        "arguments": [np.array([7, 7, 7]), np.ma.masked_array([1 << 40, 0, 0], [False, True, True])],
        "result": np.ma.masked_array([0, 1 << 40, 1 << 40], [True, False, False]),
        "invoke": np.array([0, 1, 4]),
        "return_": np.array([2, 3, 5]),
    }
    return History.of_columns("h", **{**columns, **changes})


def test_large_numbers_and_text_are_numbered():
    assert check(columns_of(), "map").verdict == "ok"
    assert columns_of().operations[0].arguments == (7, 1 << 40)
    wrong = columns_of(result=np.ma.masked_array([0, 1 << 40, 1], [True, False, False]))
    assert check(wrong, "map").failing == 2
    words = columns_of(
        arguments=[pa.array(["k", "k", "k"]), pa.array(["v", None, None])], result=pa.array([None, "v", "v"])
    )
    assert check(words, "map").verdict == "ok"
    assert words.operations[1].result == "v"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"return_": np.array([2, 0, 5])}, "from 1 to 0: it must not return before it is invoked"),
        ({"invoke": np.array([0, 1, 1]), "return_": np.array([2, 3, 5])}, "process 0.*had not returned from process 0"),
        (
            {"return_": np.ma.masked_array([0, 3, 5], [True, False, False])},
            "process 0.*still has a pending operation.*new name",
        ),
        ({"process": np.array([0, 1])}, "column 'process' has 2 rows, but 'invoke' has 3"),
        ({"object": np.array([0, 1])}, "column 'object' has 2 rows, but 'invoke' has 3"),
        ({"invoke": pa.array([0, None, 4])}, "row 1: an operation without a time of invocation"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        columns_of(**changes)


@pytest.mark.parametrize(
    ("codes", "table", "error", "message"),
    [
        (np.array([0, 9]), ["a"], ValueError, "code 9 in row 1 is not from -2 to 0"),
        (np.array([-(1 << 63), (1 << 63) - 1]), None, ValueError, "code -9223372036854775808 in row 0"),
        (np.array([[0, 1]]), None, TypeError, "one dimension"),
        (np.array([0.5]), None, TypeError, "int64"),
        ([0, 1], None, TypeError, "int64"),
    ],
)
def test_codes_that_lead_nowhere_are_refused(codes, table, error, message):
    """Compiled code looks things up by code."""
    with pytest.raises(error, match=message):
        Column(codes, table)


def test_columns_of_different_lengths_are_refused():
    """Compiled code takes the length of one column for that of all."""
    codes, times, all_of_them = Column(np.zeros(2, np.int64)), np.arange(2), np.ones(2, np.bool_)
    with pytest.raises(ValueError, match="column 'return_' has 1 rows, but 'invoke' has 2"):
        Columns(codes, codes, (), codes, times, times[:1], all_of_them)
    with pytest.raises(ValueError, match="an argument column has 3 rows"):
        Columns(codes, codes, (Column(np.zeros(3, np.int64)),), codes, times, times, all_of_them)
    with pytest.raises(TypeError, match="column 'returned' must be an array of bool"):
        Columns(codes, codes, (), codes, times, times, times)


def test_times_must_be_integers():
    with pytest.raises(TypeError, match="times must be integers, not float64"):
        columns_of(invoke=np.array([0.0, 1.0, 4.0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"f": np.array(["put", "pop", "get"])}, "has no operation 'pop'"),
        ({"arguments": [np.array([7, 7, 7])]}, "'put' of 'map' takes 2 argument"),
    ],
)
def test_calls_that_the_model_does_not_have_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        check(columns_of(**changes), "map")


def test_a_long_history_needs_no_operations():
    n = 60_000
    turn = np.arange(n)
    history = History.of_columns(
        "long",
        process=turn % 2,
        f=pa.array(["write", "read"] * (n // 2)).dictionary_encode(),
        arguments=[np.ma.masked_array(turn, turn % 2 == 1)],
        result=np.ma.masked_array(turn - 1, turn % 2 == 0),
        invoke=2 * turn,
        return_=2 * turn + 1,
    )
    for engine in ("auto", "frontier", "wgl"):
        verdict = check(history, "register", engine=engine)
        assert verdict.verdict == "ok"
        assert list(verdict.witness) == list(range(n))
    assert history._operations is None


@pytest.mark.parametrize("kind", ["counter", "priority-queue", "map", "bounded-queue"])
def test_columns_and_operations_take_the_same_steps(kind):
    """By columns or by operations: the same verdict by the same engine after as many steps."""
    model, compared = model_of(kind), 0
    for seed in range(60):
        history = random_history(kind, seed, 12)
        if kind in ("counter", "priority-queue"):
            shift = {"counter": -2, "priority-queue": -(1 << 33)}[kind]
            moved = [
                replace(each, arguments=tuple(argument + shift for argument in each.arguments))
                for each in history.operations
            ]
            history = History(history.name, moved)
        columns = as_columns(history)
        if columns is None:
            continue
        compared += 1
        one, other = check(history, model), check(columns, model)
        told = [(each.verdict, each.reason, each.engine, each.steps, each.failing) for each in (one, other)]
        assert told[0] == told[1], seed
    assert compared > 20
