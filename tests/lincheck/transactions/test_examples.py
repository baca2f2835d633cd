"""The smallest example of each anomaly, and the histories by which Elle explains and tests itself."""

import pytest
from transaction_texts import lists, registers

from latchfree_lincheck.transactions import check_transactions
from latchfree_lincheck.transactions.anomaly import CYCLES, MEANINGS, SUFFIXES
from latchfree_lincheck.transactions.edges import KINDS, Graph
from latchfree_lincheck.transactions.levels import FORBIDS, IMPLIES

#: By anomaly: a history that has no other one, and the weakest levels that it rules out.
SMALLEST = {
    "G0": (lists("x+1 y+1", "x+2 y+2", "x?1,2", "y?2,1"), ("read-uncommitted",)),
    "G1a": (lists("! x+1", "x?1"), ("read-committed",)),
    "G1b": (registers("x=1 x=2", "x?1"), ("read-committed",)),
    "G1c": (lists("x+1 y?1", "x+2 y+1", "x?1,2"), ("read-committed",)),
    "G-single": (lists("x+1 y+1", "x?1 y?"), ("consistent-view", "repeatable-read")),
    "G-nonadjacent": (lists("x+1", "x?1 y?", "y+1", "y?1 x?"), ("repeatable-read", "snapshot-isolation")),
    "G2-item": (lists("x? y+1", "y? x+1"), ("repeatable-read",)),
    "G0-process": (
        lists("1 x+2", "1 x+1", "2 x?1,2"),
        ("strong-session-read-uncommitted",),
    ),
    "G1c-process": (lists("1 x?1 y+1", "2 y?1", "2 x+1"), ("strong-session-read-committed",)),
    "G-single-process": (lists("1 x+1", "1 x?", "2 x?1"), ("strong-session-snapshot-isolation",)),
    "G-nonadjacent-process": (
        lists("1 x? y?1", "2 x+1", "2 y?", "3 y+1"),
        ("strong-session-snapshot-isolation",),
    ),
    "G2-item-process": (lists("1 y+1", "1 x? ", "2 x+1 y?"), ("strong-session-serializable",)),
    "G0-realtime": (lists("1@0-1 x+2", "2@2-3 x+1", "3@4-5 x?1,2"), ("strong-read-uncommitted",)),
    "G1c-realtime": (lists("1@0-1 x?1", "2@2-3 x+1"), ("strong-read-committed",)),
    "G-single-realtime": (lists("1@0-1 x+1", "2@2-3 x?"), ("strong-snapshot-isolation",)),
    "G-nonadjacent-realtime": (
        lists("1@0-9 x? y?1", "2@0-1 x+1", "3@2-3 y?", "4@0-9 y+1"),
        ("strong-snapshot-isolation",),
    ),
    "G2-item-realtime": (lists("1@0-1 y+1", "2@2-3 x?", "3@0-9 x+1 y?"), ("strict-serializable",)),
    "internal": (lists("x+1 x?"), ("read-atomic", "repeatable-read")),
    "future-read": (lists("x?1 x+1"), ("read-committed",)),
    "duplicate-elements": (lists("x+1", "x?1,1"), ("read-uncommitted",)),
    "incompatible-order": (lists("x+1", "x+2", "x?1", "x?2"), ("read-committed",)),
    "cyclic-versions": (registers("x=3 x=1", "x=4 x=2", "x?1 y?-"), ()),
    "garbage-read": (lists("x?7"), ("read-uncommitted",)),
    "lost-update": (lists("x? x+1", "x? x+2"), ("cursor-stability",)),
    "dirty-update": (lists("! x+1", "x+2", "x?1,2"), ("read-committed",)),
}
#: Anomalies that never come alone, with those that come along.
TOGETHER = {
    "lost-update": {"G2-item"},
    "dirty-update": {"G1a"},
}
del SMALLEST["cyclic-versions"]


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_example_of_each_anomaly(name):
    history, weakest = SMALLEST[name]
    report = check_transactions(history)
    assert set(report.names) == {name} | TOGETHER.get(name, set())
    assert report.not_levels == weakest
    assert report.verdict == "violation"
    assert all(anomaly.explain(history) for anomaly in report.anomalies)


def test_versions_in_a_circle():
    history = registers("1@0-1 x=1", "1@2-3 x=2", "1@4-5 x?1")
    assert check_transactions(history).names == ()
    for keys in ("sequential", "linearizable"):
        report = check_transactions(history, keys=keys)
        assert report.names == ("cyclic-versions",)
        assert report.not_levels == ("read-uncommitted",)


def test_every_anomaly_has_an_example_a_meaning_and_a_level():
    every = set(MEANINGS) | {family + suffix for family in CYCLES for suffix in SUFFIXES}
    assert every == {*SMALLEST, "cyclic-versions"}
    forbidden = {name for names in FORBIDS.values() for name in names}
    assert every == forbidden | set(IMPLIES)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("ww", "G0"),
        ("ww", "G0-realtime"),
        ("wr", "G1c"),
        ("wr", "G-single"),
        ("rw", "G2-item"),
        ("rw", "G-single-realtime"),
        ("process", "G-single-process"),
        ("process", "G2-item-process"),
        ("realtime", "G-single-realtime"),
        ("realtime", "G1c-realtime"),
    ],
)
def test_no_kind_of_edge_can_be_left_out(monkeypatch, kind, name):
    """A mutant of the inference that never adds a kind of edge misses an anomaly that needs it."""
    add = Graph.add

    def without(self, number, *arguments):
        if number != KINDS.index(kind):
            add(self, number, *arguments)

    history, _ = SMALLEST[name]
    assert name in check_transactions(history).names
    monkeypatch.setattr(Graph, "add", without)
    assert name not in check_transactions(history).names


#: Histories of Elle's README, paper and tests (https://github.com/jepsen-io/elle): anomalies, and the weakest levels
#: that they rule out. Where Elle stops at the worst cycle of a component, all classes are here that imply no other.
ELLE = {
    "the README": (lists("x+1 y?1", "x+2 y+1", "x?1,2"), {"G1c"}, {"read-committed"}),
    "the paper": (
        lists(
            "k253+1 k253+3 k253+4 k255+2 k255+3 k255+4 k255+5 k256+1 k256+2",
            "k255+8 k253?1,3,4",
            "k256+4 k255?2,3,4,5,8 k256?1,2,4 k253?1,3,4",
            "k250+10 k253?1,3,4 k255?2,3,4,5 k256+3",
        ),
        {"G-single"},
        {"consistent-view", "repeatable-read"},
    ),
    "a write cycle": (lists("x+1 y+1", "x+2 y+2", "x?1,2 y?2,1"), {"G0"}, {"read-uncommitted"}),
    "an aborted read": (lists("! x+1", "x?1"), {"G1a"}, {"read-committed"}),
    "an intermediate read": (lists("x+1 x+2", "x?1"), {"G1b", "G-single"}, {"read-committed"}),
    "a circle of information": (lists("x+1 y?1", "x+2 y+1", "x?1,2 y?1"), {"G1c"}, {"read-committed"}),
    "read skew": (lists("x+1 y+1", "x+2 y?", "x?1,2"), {"G-single"}, {"consistent-view", "repeatable-read"}),
    "write skew": (lists("x+1 y?", "y+1 x?"), {"G2-item"}, {"repeatable-read"}),
    "strong SI": (
        lists("0@0-1 x+1", "1@2-3 x+2", "2@4-5 x?1", "3@6-7 x?1,2"),
        {"G-single-realtime"},
        {"strong-snapshot-isolation"},
    ),
    "strong session SI": (
        lists("0@0-1 x+1", "1@2-3 x+2", "1@4-5 x?1", "2@6-7 x?1,2"),
        {"G-single-process"},
        {"strong-session-snapshot-isolation"},
    ),
    "issue 17": (
        lists("0@0-1 x? z?1", "1@2-3 x+1", "1@4-5 z?", "2@6-7 z+1"),
        {"G-nonadjacent-process", "G1c-realtime", "G-single-realtime"},
        {"strong-session-snapshot-isolation", "strong-read-committed"},
    ),
    "contradictory reads": (
        lists("x+1 y?1", "x+2", "x+3 y+1", "x?1,3", "x?1,2,3"),
        {"incompatible-order", "G1c"},
        {"read-committed"},
    ),
    "a dirty update": (lists("! x+1", "x+2", "x?1,2"), {"dirty-update", "G1a"}, {"read-committed"}),
    "an indirect dirty update": (
        lists("! x+1", "? x+2", "x+3", "x?1,2,3"),
        {"dirty-update", "G1a"},
        {"read-committed"},
    ),
    "an aborted append that nobody reads": (lists("! x+1", "x?"), set(), set()),
    "duplicates": (
        lists("x+1 y?1", "x+2 y+1", "x?1,2,1"),
        {"duplicate-elements", "G1c"},
        {"read-uncommitted"},
    ),
    "internal": (lists("x+1 x+2 x+4", "x+3 x?1,2,3,4"), {"internal", "G0"}, {"read-uncommitted"}),
    "unread appends": (
        lists("x+1 y+1", "x+2 y+2", "x+3 y+3", "x?1,2", "y?2"),
        {"G0", "G-single"},
        {"read-uncommitted"},
    ),
    "nonadjacent": (
        lists("x+1", "x?1 y?", "y+1", "y?1 x?"),
        {"G-nonadjacent"},
        {"snapshot-isolation", "repeatable-read"},
    ),
    "two adjacent": (lists("x? z?1", "x+1 y?", "y+1 z+1"), {"G2-item"}, {"repeatable-read"}),
    "no cycle": (lists("x?5 y+1", "y? z+2", "z? t+3", "t?3 u+4", "u? x+5"), set(), set()),
    "SI without G-single": (
        lists("2@0-1 x9+2", "4@2-3 x8+1 x9?", "7@4-5 x6? x8? x9+5", "9@6-7 x6+2 x9?2"),
        {"G2-item", "G-single-realtime"},
        {"repeatable-read", "strong-snapshot-isolation"},
    ),
    "a lost update": (lists("x+0", "x?0 x+1", "x?0 x+2"), {"lost-update", "G2-item"}, {"cursor-stability"}),
    "two appends after a read": (lists("x? x+1 x+2", "x?1,2"), set(), set()),
    "issue 21": (
        lists("1@0-1 x?1 y+1", "2@2-3 y?1", "2@4-5 x+1"),
        {"G1c-process"},
        {"strong-session-read-committed"},
    ),
    "Adya's figure 3": (lists("z+1 x+1 y+1", "x?1 y+2", "y?1,2 z+3", "z?1,3"), set(), set()),
    "reads of unknown outcome": (lists("? x+2 y?", "x+1 y+1", "x?1,2 y?1"), set(), set()),
    "FaunaDB": (lists("1@1-2 x+6 x?"), {"internal"}, {"read-atomic", "repeatable-read"}),
    "registers: G1a": (registers("! x=1", "x?1"), {"G1a"}, {"read-committed"}),
    "registers: G1b": (registers("x=1 x=2", "x?1"), {"G1b"}, {"read-committed"}),
    "registers: G1c": (registers("x=1 y?1", "y=1 x?1"), {"G1c"}, {"read-committed"}),
    "registers: initial state": (
        registers("0 x?- y?1", "1 y=1 x=2"),
        {"G-single"},
        {"consistent-view", "repeatable-read"},
    ),
    "registers: what a read precedes": (
        registers("y?1 x=1 y=2", "x?1 y?1", "y=1"),
        {"G-single"},
        {"consistent-view", "repeatable-read"},
    ),
    "registers: unknown order": (registers("0 x=1 y=2", "1 x=2 y=1"), set(), set()),
    "registers: good": (registers("y=2", "y?2 x=2 x?2 x=1 x?1"), set(), set()),
    "registers: stale": (registers("x=1", "x?1 x=2 x?1"), {"internal"}, {"read-atomic", "repeatable-read"}),
    "registers: a lost update": (
        registers("x=0", "x?0 x=1", "x?0 x=2"),
        {"lost-update", "G2-item"},
        {"cursor-stability"},
    ),
}


@pytest.mark.parametrize("name", ELLE)
def test_what_elle_says_of_its_own_examples(name):
    history, names, not_levels = ELLE[name]
    report = check_transactions(history, kind="rw-register" if name.startswith("registers") else "list-append")
    assert set(report.names) == names
    assert set(report.not_levels) == not_levels


def test_lists_that_contradict_each_other_order_nothing():
    """The lists [1] and [2] of x are of two worlds: neither element came before the other."""
    history = lists("x+1 x?1 y+3", "x+2 x?2 y+4 y?4")
    assert check_transactions(history).names == ("incompatible-order",)


def test_registers_whose_keys_are_sequential():
    """Two writers of two keys, and reads afterwards that say who was last: a write cycle."""
    history = registers("0@0-1 x=1 y=2", "1@0-1 x=2 y=1", "0@2-3 x?2", "1@4-5 y?2")
    assert check_transactions(history).names == ()
    assert check_transactions(history, keys="sequential").names == ("G0",)
    # In real time y = 1 or 2 was the last of two concurrent writes; the read of 2 says it again.
    assert "G0" in check_transactions(history, keys="linearizable").names


def test_registers_whose_keys_are_linearizable():
    history = registers("9@0-1 x=1 y=1", "0@2-3 x?1 y?1", "1@4-9 x?1 y=2", "2@5-8 y?1 x=2")
    assert check_transactions(history).names == ()
    assert check_transactions(history, keys="linearizable").names == ("G2-item",)
