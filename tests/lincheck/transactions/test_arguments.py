"""What `check_transactions` refuses, and what it says of odd histories."""

import re

import pytest
from transaction_texts import lists, registers

from latchfree_lincheck.transactions import Transaction, check_transactions


@pytest.mark.parametrize(
    ("history", "options", "said"),
    [
        (lists("x+1"), {"level": "best"}, "no level of isolation is called 'best'; choose one of read-uncommitted"),
        (lists("x+1"), {"kind": "sets"}, "no kind of history is called 'sets'; choose one of list-append"),
        (registers("x=1"), {"keys": "ordered"}, "keys='ordered' is unknown; choose one of unordered"),
        (lists("x+1"), {"keys": "sequential"}, "is for rw-register"),
        (lists("x+1"), {"kind": "rw-register"}, "T0: expected r or w in a history of kind rw-register, got 'append'"),
        (registers("x=1", "x?1"), {"kind": "list-append"}, "T0: expected r or append"),
        (registers("y?-"), {}, "say kind="),
        (lists("x+1", "y+1", "x+1"), {}, "T2 appends 1 to x, as T0 does; append an element to a key only once"),
        (lists("x+1 x+1"), {}, "T0 appends 1 to x, as T0 does"),
        ([Transaction((("append", "x", None),))], {}, "T0: writes nothing to x"),
        ([Transaction((("append", "x", 1), ("r", "x", 3)))], {}, "T0: expected a tuple as the result"),
        ([Transaction((("append", [], 1),))], {}, "T0: key and value must be hashable"),
        ([Transaction((("append", "x"),))], {"kind": "list-append"}, "T0: expected (f, key, value)"),
        ([Transaction((("append", "x", 1),), "gone")], {"kind": "list-append"}, "nothing"),
        ([*lists("x+1"), Transaction((), "gone")], {}, "T1: expected ok, fail or info as its type, got 'gone'"),
        ([Transaction((("append", "x", 1),), "ok", 0, 5, 4)], {}, "T0: returned at 4, before its call at 5"),
        ([Transaction((("append", "x", 1),), "ok", 0, 0.5)], {}, "T0: expected an integer or None as a time"),
        ([Transaction((("append", "x", 1),), "ok", ())], {}, "as its process, got ()"),
        ([Transaction((("append", "x", 1),), line=9), *lists("x+1")], {}, "T1 appends 1 to x, as T0 (line 9) does"),
    ],
)
def test_what_is_refused(history, options, said):
    if said == "nothing":  # nothing committed, so that nothing is looked at
        assert check_transactions(history, **options).verdict == "nothing"
        return
    with pytest.raises(ValueError, match=re.escape(said)):
        check_transactions(history, **options)


def test_what_is_no_transaction():
    with pytest.raises(TypeError, match="expected a Transaction at place 0 of the history, got dict"):
        check_transactions([{"value": []}])


def test_nothing_to_check():
    for history in ([], lists("! x+1"), lists("? x+1"), [Transaction(())]):
        report = check_transactions(history)
        assert report.verdict == "nothing"
        assert report.explain().startswith("nothing was checked: no transaction committed")
        assert "nothing was checked" in report.html()


def test_text_that_no_terminal_can_print():
    report = check_transactions([Transaction((("r", "\ud800\n", ("\x1b[2J",)),), process="\ud800")])
    assert report.names == ("garbage-read",)
    text = report.explain() + report.html("\ud800")
    text.encode()
    assert "\x1b" not in text


def test_very_many_transactions_of_one_anomaly_are_told_briefly():
    report = check_transactions(lists(*[f"x? x+{i}" for i in range(300)]))
    lost = next(each for each in report.anomalies if each.name == "lost-update")
    assert len(lost.transactions) == 300
    assert "T7 and 292 more all read x = []" in lost.text
    assert "  ... and 250 more" in report.explain()
    assert len(report.explain()) < 10_000


def test_a_long_chain_needs_no_recursion():
    """A cycle through 5,000 transactions: each reads the list of the one before, and the first that of the last."""
    count = 5_000
    history = [Transaction((("r", i, (1,)), ("append", (i + 1) % count, 1))) for i in range(count)]
    report = check_transactions(history)
    assert report.names == ("G1c",)
    assert len(report.anomalies[0].transactions) == count
    assert len(report.html()) < 100_000
    assert "... and 4,950 more, back to T" in report.explain()


def test_real_time_of_many_concurrent_transactions_takes_linear_space():
    """500 calls, then 500 returns, then as many again: 250,000 pairs are ordered by real time."""
    from latchfree_lincheck.transactions.check import infer

    many = 500
    first = [Transaction((("append", i, 1),), "ok", None, i, many + i) for i in range(many)]
    second = [Transaction((("r", i, ()),), "ok", None, 2 * many + i, 3 * many + i) for i in range(many)]
    graph, _ = infer([*first, *second], "list-append")
    assert len(graph.kind) < 4 * 2 * many
    report = check_transactions([*first, *second])
    assert report.names == ("G-single-realtime",)
    assert report.not_levels == ("strong-snapshot-isolation",)
