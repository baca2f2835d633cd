"""Many histories at once are judged as each is by itself, whatever they are judged together with."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from lincheck_random import KINDS, model_of, random_history

from latchfree_lincheck import Column, Columns, History, Operation, check, check_many
from latchfree_lincheck.engine import decide_many
from latchfree_lincheck.history import InvalidOperation
from latchfree_lincheck.history.border import HISTORY
from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_model import UNKNOWN, get_model

HISTORIES = 120
SPOILT = ("overlap", "backwards", "unknown operation", "arguments")


def typed(things):
    """Return a column in which 1 and True are two things."""
    numbers, codes = {}, []
    for thing in things:
        codes.append(
            NONE
            if thing is None
            else MISSING
            if thing is UNKNOWN
            else numbers.setdefault((type(thing), thing), len(numbers))
        )
    return Column(np.array(codes, np.int64), [thing for _, thing in numbers])


def columns_of(batch):
    """Return the operations of many histories as columns, and the name of the history of each."""
    rows = [operation for _, operations in batch for operation in operations]
    width = max(len(row.arguments) for row in rows)
    columns = Columns.of(
        [row.process for row in rows],
        [row.f for row in rows],
        [Column.of([(*row.arguments, *[UNKNOWN] * width)[place] for row in rows]) for place in range(width)],
        typed([row.result for row in rows]),
        np.array([row.invoke for row in rows]),
        pa.array([row.return_ for row in rows], pa.int64()),
        [row.object for row in rows],
    )
    return columns, [name for name, operations in batch for _ in operations]


def hashable(operation):
    """Return the operation with a snapshot in order: columns hold hashable things, and equal sets may print apart."""
    seen = operation.result
    if isinstance(seen, dict | frozenset):
        return replace(operation, result=tuple(sorted(seen.items() if isinstance(seen, dict) else seen)))
    return operation


def spoil(operations, how, rng):
    """Make of a history one that cannot be, or a call that no model has."""
    at = rng.randrange(len(operations))
    each = operations[at]
    if how == "overlap":
        again = replace(each, process="late", invoke=each.invoke - 5, return_=None, result=UNKNOWN)
        return [*operations, again, replace(each, process="late", invoke=each.invoke + 5, return_=None, result=UNKNOWN)]
    changes = {
        "backwards": {"return_": each.invoke - 1},
        "unknown operation": {"f": "frobnicate"},
        "arguments": {"arguments": (*each.arguments, 1, 2, 3)},
    }
    return [*operations[:at], replace(each, **changes[how]), *operations[at + 1 :]]


def some_histories(kind, count, most=7):
    """Return named lists of operations: every eighth of them spoilt, every fifth on two objects."""
    batch = []
    for seed in range(count):
        rng = random.Random(f"{kind} {seed}")
        operations = [hashable(each) for each in random_history(kind, 50_000 + seed, most).operations]
        if seed % 5 == 0:
            operations = [replace(each, object=rng.choice(("a", "b"))) for each in operations]
        if seed % 8 == 0:
            operations = spoil(operations, SPOILT[seed // 8 % len(SPOILT)], rng)
        batch.append((f"{kind}-{seed}", operations))
    return batch


def alone(name, operations, model):
    """Return verdict, reason, engine and failing operation by the ordinary check."""
    try:
        verdict = check(History(name, operations), model)
    except ValueError as error:
        return "error", str(error), "", -1
    return verdict.verdict, verdict.reason, verdict.engine, -1 if verdict.failing is None else verdict.failing


def together(batch, model, **bounds):
    """Return what `check_many` says of each history, by name, but for the time it took."""
    found = check_many(*columns_of(batch), model, **bounds)
    rows = zip(*(getattr(found, name) for name in found.__slots__[:7]), strict=True)
    return {row[0]: row[1:] for row in rows}


def disagreements(kind, batch):
    """Return histories on which `check_many` and `check` differ, and the verdicts seen."""
    model = model_of(kind)
    found = together(batch, model)
    wrong, seen = [], set()
    for name, operations in batch:
        verdict, reason, engine, size, _, failing = found[name]
        seen.add(verdict)
        if (verdict, reason, engine, failing) != alone(name, operations, model) or size != len(operations):
            wrong.append(name)
    return wrong, seen


@pytest.mark.parametrize("kind", KINDS)
def test_as_by_itself(kind):
    wrong, seen = disagreements(kind, some_histories(kind, HISTORIES))
    assert not wrong
    assert seen == {"ok", "violation", "error"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_as_by_itself_on_many(kind):
    wrong, _ = disagreements(kind, some_histories(kind, 5_000, most=10))
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_it_does_not_matter_what_is_judged_together(kind):
    model, batch = model_of(kind), some_histories(kind, 60)
    whole = together(batch, model)
    shuffled = random.Random(1).sample(batch, len(batch))
    assert together(shuffled, model) == whole
    assert {name: verdict for each in batch for name, verdict in together([each], model).items()} == whole


def test_a_fold_that_forgets_a_part_is_caught(monkeypatch):
    fold = decide_many.fold

    def forgetful(parts, owner, monitored, swept, notes, *more):
        kept = np.append(owner[1:] == owner[:-1], False)
        return fold(parts, owner[kept], monitored[kept], swept[kept], notes[kept], *more)

    monkeypatch.setattr(decide_many, "fold", forgetful)
    assert disagreements("map", some_histories("map", 200))[0]


def test_an_order_that_overlooks_a_busy_process_is_caught(monkeypatch):
    monkeypatch.setattr(HISTORY, "find_overlaps", lambda *_: None)
    assert disagreements("register", some_histories("register", 64))[0]


def test_rows_in_any_order_and_large_times():
    rng = random.Random(2)
    batch = []
    for seed in range(3):
        operations = [replace(each, invoke=each.invoke << 40, return_=each.return_ << 40) for each in long(seed, 400)]
        batch.append((seed, rng.sample(operations, len(operations))))
    batch[1][1][7] = replace(batch[1][1][7], return_=-1)
    found = together(batch, get_model("register"))
    assert [found[seed][0] for seed in range(3)] == ["ok", "error", "ok"]


def long(seed, length):
    """Return a register's history of one process that writes and reads in turn."""
    return [
        Operation(0, "write", (at,), None, 4 * at + seed, 4 * at + seed + 1)
        if at % 2 == 0
        else Operation(0, "read", (), at - 1, 4 * at + seed, 4 * at + seed + 1)
        for at in range(length)
    ]


def hard(name, writers=9):
    """Return a history that takes many steps: blind writes, and a read of what nobody wrote."""
    writes = [Operation(f"{name}{w}", "write", (w % 4,), None, w, 50 + w) for w in range(writers)]
    swaps = [Operation(f"cas{w}", "cas", (w % 4, (w + 1) % 4), UNKNOWN, w, 50 + w) for w in range(writers)]
    return name, [*writes, *swaps, Operation("reader", "read", (), 9, 100, 101)]


def test_a_budget_is_steps():
    model = get_model("cas-register")
    batch = [hard("one"), ("easy", long(0, 10)), hard("two", 10)]
    found = together(batch, model, budget=30_000)
    assert found["easy"][:2] == ("ok", "linearizable")
    for name in ("one", "two"):
        verdict, reason, _, _, states, _ = found[name]
        assert (verdict, reason) == ("unknown", "budget of 30,000 steps reached")
        assert 30_000 <= states < 60_000
    assert together(batch[::-1], model, budget=30_000) == found
    assert [together([each], model, budget=30_000)[each[0]] for each in batch] == [found[name] for name, _ in batch]
    assert together([hard("small", 4)], model)["small"][:2] == (
        "violation",
        "no order explains read() by process reader",
    )


@pytest.mark.parametrize("engine", ["auto", "frontier", "wgl", "python"])
def test_every_search_keeps_a_budget(engine):
    history = History(*hard("hard"))
    verdicts = [check(history, "cas-register", engine=engine, budget=2_000) for _ in range(2)]
    assert [each.reason for each in verdicts] == ["budget of 2,000 steps reached"] * 2
    assert verdicts[0].steps == verdicts[1].steps >= 2_000
    with pytest.raises(ValueError, match="a budget of 0 steps: give at least 1, or None"):
        check(history, "cas-register", engine=engine, budget=0)


def test_a_model_of_ones_own():
    found = together(some_histories("register", 8), ForgetfulModel())
    assert {verdict for verdict, *_ in found.values()} == {"ok", "violation", "error"}
    assert {engine for verdict, _, engine, *_ in found.values() if verdict != "error"} == {"python"}


class ForgetfulModel:
    """A register that nobody reads right."""

    name = "forgetful"

    def init(self):
        return None

    def step(self, state, call):
        if call.f not in ("read", "write"):
            raise ValueError(f"no operation {call.f!r}")
        return call.f == "write" or call.result in (None, UNKNOWN), state

    def describe(self, state, call):
        return "nothing"

    def partition(self, call):
        return None


def test_a_history_by_itself_and_a_table():
    batch = some_histories("map", 40)
    found = check_many(*columns_of(batch))
    table = found.table()
    assert table.column_names == [
        "history", "verdict", "reason", "engine", "operations", "states", "failing", "seconds",
    ]  # fmt: skip
    assert table["verdict"].to_pylist() == found.verdict.tolist()
    for number, (name, operations) in enumerate(batch):
        if found.verdict[number] == "error":
            continue
        assert found.one(number) == History(name, operations)
    backwards = next(number for number in range(40) if "must not return" in found.reason[number])
    with pytest.raises(InvalidOperation, match="it must not return before it is invoked"):
        found.one(backwards)


def test_numbers_as_numpy_columns():
    columns = Columns.of(
        np.zeros(6, np.int64),
        pa.array(["put", "get"] * 3).dictionary_encode(),
        [np.full(6, -7), np.ma.masked_array([1 << 50, 0] * 3, [False, True] * 3)],
        np.ma.masked_array([0, 1 << 50, 0, 3, 0, 1 << 50], [True, False] * 3),
        np.array([0, 2] * 3),
        np.array([1, 3] * 3),
        None,
    )
    found = check_many(columns, np.array([4, 4, 9, 9, -1, -1]))
    assert found.history == [4, 9, -1]
    assert found.verdict.tolist() == ["ok", "violation", "ok"]
    assert found.failing.tolist() == [-1, 1, -1]


def test_what_cannot_be_is_refused():
    columns, names = columns_of(some_histories("map", 3))
    with pytest.raises(ValueError, match="column 'history' has 1 rows, but 'invoke' has"):
        check_many(columns, names[:1])
    with pytest.raises(ValueError, match=r"history 'map-0' goes on in row \d+ after others: sort the rows by history"):
        check_many(*columns_of([(name, operations) for name, operations in [*some_histories("map", 2)] * 2]))
    with pytest.raises(ValueError, match="no model is called 'mapp'"):
        check_many(columns, names, "mapp")
    with pytest.raises(ValueError, match="a budget of 0 steps"):
        check_many(columns, names, budget=0)


def test_no_histories():
    columns = Columns.of([], [], [], [], np.zeros(0, np.int64), np.zeros(0, np.int64), None)
    assert len(check_many(columns, [])) == 0
