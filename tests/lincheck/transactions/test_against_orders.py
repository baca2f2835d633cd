"""The checker beside brute force over all serial orders, and beside databases that keep a level and no more."""

import random

import pytest
from transaction_databases import has_serial_order, run
from transaction_texts import lists

from latchfree_lincheck.transactions import Transaction, check_transactions
from latchfree_lincheck.transactions.edges import KINDS, Graph
from latchfree_lincheck.transactions.levels import forbidden_by

#: By level: which orders a serial order must keep besides.
SERIAL = {
    "serializable": {},
    "strong-session-serializable": {"process": True},
    "strict-serializable": {"process": True, "realtime": True},
}
DATABASES = ("strict-serializable", "serializable", "snapshot-isolation", "read-committed", "read-uncommitted")


def small(rng, kind):
    """A random history: that of a database, and some results changed."""
    level = rng.choice(DATABASES)
    history = run(rng, level, kind, transactions=rng.randint(2, 5), processes=3, keys=2, longest=3)
    if rng.random() < 0.5:
        history = [changed(rng, transaction) for transaction in history]
    if rng.random() < 0.3:
        history = [Transaction(t.operations, t.type) for t in history]
    return history


def changed(rng, transaction):
    operations = list(transaction.operations)
    at = rng.randrange(len(operations))
    f, key, value = operations[at]
    if f == "r" and transaction.type == "ok" and value and rng.random() < 0.3:
        operations[at] = (f, key, value[: rng.randrange(len(value))] if isinstance(value, tuple) else None)
    return Transaction(
        tuple(operations), *[getattr(transaction, name) for name in ("type", "process", "invoke", "return_")]
    )


def with_a_last_read(history, keys="xyzuvw"):
    """Add a reader of everything that any read holds or anybody committed: then all version orders are known."""
    state = {}
    for transaction in history:
        for f, key, value in transaction.operations:
            if f == "r" and value and len(value) > len(state.get(key, ())):
                state[key] = value
    for transaction in history:
        for f, key, value in transaction.operations:
            if f == "append" and transaction.type == "ok" and value not in state.get(key, ()):
                state[key] = (*state.get(key, ()), value)
    times = [time for t in history for time in (t.invoke, t.return_) if time is not None]
    end = max(times, default=0) + 1
    reads = tuple(("r", key, state.get(key, ())) for key in keys)
    return [*history, Transaction(reads, "ok", 99, end if times else None, end + 1 if times else None)]


@pytest.mark.parametrize("histories", [150, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["list-append", "rw-register"])
def test_what_a_serial_order_explains_has_no_anomaly(rng, kind, histories):
    explained = 0
    for _ in range(histories):
        history = small(rng, kind)
        report = check_transactions(history, kind)
        for level, orders in SERIAL.items():
            if has_serial_order(history, **orders):
                assert forbidden_by(level).isdisjoint(report.names), (level, history, report.explain())
                explained += 1
    assert explained > histories


@pytest.mark.parametrize("histories", [250, pytest.param(10_000, marks=pytest.mark.slow)])
def test_what_no_serial_order_explains_has_an_anomaly_if_all_is_read(histories):
    """Where a last reader has seen every element, each version order is known, and the checker is complete."""
    rng = random.Random(7)  # what it must show does not depend on the seed of the run
    refused = dict.fromkeys(SERIAL, 0)
    for _ in range(histories):
        history = with_a_last_read(small(rng, "list-append"))
        report = check_transactions(history, "list-append")
        for level, orders in SERIAL.items():
            if forbidden_by(level).isdisjoint(report.names):
                assert has_serial_order(history, **orders), (level, history)
            else:
                refused[level] += 1
    assert all(refused.values()), refused


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_kind_of_edge_the_checker_is_not_complete(monkeypatch, kind):
    """A mutant that never adds a kind of edge accepts a history that no serial order explains."""
    rng = random.Random(7)  # what it must show does not depend on the seed of the run
    add = Graph.add

    def without(self, number, *arguments):
        if number != KINDS.index(kind):
            add(self, number, *arguments)

    monkeypatch.setattr(Graph, "add", without)
    for _ in range(3000):
        history = with_a_last_read(small(rng, "list-append"))
        if kind == "process":  # what real time says as well is no evidence
            history = [Transaction(t.operations, t.type, t.process) for t in history]
        report = check_transactions(history, "list-append")
        if report.verdict == "ok" and not has_serial_order(history, process=True, realtime=True):
            return
    pytest.fail(f"no history needs an edge of kind {kind}")


@pytest.mark.parametrize("kind", ["list-append", "rw-register"])
@pytest.mark.parametrize(
    ("database", "level", "shown"),
    [
        ("strict-serializable", "strict-serializable", set()),
        ("serializable", "serializable", {"G-single-process", "G-single-realtime"}),
        ("snapshot-isolation", "strong-snapshot-isolation", {"G2-item"}),
        ("read-committed", "read-committed", {"lost-update", "G-single", "G2-item"}),
        ("read-uncommitted", None, {"G1a", "G1b", "G1c"}),
    ],
)
def test_databases_show_what_their_level_allows_and_nothing_else(kind, database, level, shown):
    rng = random.Random(20120225)  # what it must show does not depend on the seed of the run
    found = set()
    for _ in range(60):
        history = run(rng, database, kind, transactions=25, processes=4, keys=3)
        report = check_transactions(history, kind)
        assert level is None or forbidden_by(level).isdisjoint(report.names), report.explain()
        found |= set(report.names)
    assert shown <= found, found
    if database == "strict-serializable":
        assert not found


def test_registers_that_are_linearizable_one_by_one(rng):
    """In a strict serializable database each key is linearizable: taking it for granted adds no anomaly."""
    for _ in range(20):
        history = run(rng, "strict-serializable", "rw-register", transactions=25, processes=4, keys=3)
        for keys in ("sequential", "linearizable"):
            assert check_transactions(history, "rw-register", keys=keys).names == ()


def test_each_cycle_is_what_its_name_says():
    """By the definition: the kinds of the edges, in a circle, and a transaction at most once."""
    rng = random.Random(7)  # what it must show does not depend on the seed of the run
    seen = set()
    for _ in range(60):
        level = rng.choice(["serializable", "snapshot-isolation", "read-committed", "read-uncommitted"])
        history = run(rng, level, transactions=20, processes=4, keys=3)
        for anomaly in check_transactions(history).anomalies:
            if not anomaly.edges:
                continue
            seen.add(anomaly.name)
            kinds = [edge.kind for edge in anomaly.edges]
            assert [edge.source for edge in anomaly.edges] == list(anomaly.transactions)
            following = [*anomaly.transactions[1:], anomaly.transactions[0]]
            assert [edge.target for edge in anomaly.edges] == following
            assert len(set(anomaly.transactions)) == len(kinds) >= 2
            assert anomaly.name == class_of(kinds)
    assert {"G1c", "G-single", "G2-item"} <= seen


def class_of(kinds):
    """The name of a cycle, by its definition."""
    count = kinds.count("rw")
    adjacent = any(kinds[at - 1] == kinds[at] == "rw" for at in range(len(kinds)))
    if count == 0:
        family = "G1c" if "wr" in kinds else "G0"
    elif count == 1:
        family = "G-single"
    else:
        family = "G2-item" if adjacent else "G-nonadjacent"
    return family + ("-realtime" if "realtime" in kinds else "-process" if "process" in kinds else "")


def test_many_readers_and_writers_of_an_unread_version():
    """Edges through virtual nodes are the same as edges one by one, also for who is reader and writer."""
    texts = [f"x? x+{i}" for i in range(20)] + ["x?"] * 20 + [f"x+{i}" for i in range(20, 40)]
    history = lists(*texts)
    report = check_transactions(history)
    assert set(report.names) == {"lost-update", "G2-item"}
    assert len(report.anomalies[0].transactions) == 20
    only = lists(*texts[20:])
    assert check_transactions(only).names == ()
    one = lists("x? x+0", *texts[20:])
    assert check_transactions(one).names == ()
    two = lists("x? y?1", "y+1 x+50", *texts[20:])
    assert check_transactions(two).names == ("G-single",)


def test_histories_do_not_depend_on_names_of_keys_or_elements():
    rng = random.Random(5)
    history = run(rng, "read-uncommitted", transactions=30)
    renamed = [
        Transaction(
            tuple((f, ("key", key), renamed_value(value)) for f, key, value in t.operations),
            t.type,
            t.process,
            t.invoke,
            t.return_,
        )
        for t in history
    ]
    assert check_transactions(renamed).names == check_transactions(history).names != ()


def renamed_value(value):
    return tuple(f"e{each}" for each in value) if isinstance(value, tuple) else None if value is None else f"e{value}"
