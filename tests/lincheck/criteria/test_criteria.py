"""What sets the criteria apart, their bounds, and what they refuse."""

import pytest

from latchfree_lincheck import History, Operation
from latchfree_lincheck.criteria import CRITERIA, judge
from latchfree_model import UNKNOWN, SequentialModel


def ops(*rows):
    """Return operations from (process, f, arguments, result, invoke, return)."""
    return History("h", [Operation(*row) for row in rows])


STALE = ops((0, "write", (1,), None, 0, 1), (1, "read", (), None, 2, 3))
"""Sequentially consistent, and neither linearizable nor quiescently consistent."""

BUSY = ops((0, "write", (1,), None, 1, 2), (0, "read", (), None, 3, 4), (1, "write", (2,), None, 0, 9))
"""Quiescently consistent: process 1 keeps the object busy, so not even the order of process 0 counts."""

SPLIT = ops(
    (0, "add", (1,), None, 0, 9), (1, "add", (3,), None, 1, 2), (2, "read", (), 3, 3, 4), (3, "read", (), 5, 5, 6)
)  # fmt: skip
"""The last read must be 3 or 4."""

SEEN = ops((0, "write", (1,), None, 0, 1), (0, "read", (), 1, 2, 3))
UNSEEN = ops((0, "write", (1,), None, 0, 1), (0, "read", (), 2, 2, 3))


@pytest.mark.parametrize(
    ("history", "model", "ok"),
    [
        (STALE, "register", {"sequential-consistency"}),
        (BUSY, "register", {"quiescent-consistency"}),
        (
            ops((0, "write", (1,), None, 0, 1), (0, "read", (), 1, 2, 3)),
            "register",
            set(CRITERIA) - {"intermediate-value"},
        ),
        (ops((0, "write", (1,), None, 0, 1), (0, "read", (), 2, 2, 3)), "register", set()),
    ],
)
def test_criteria_differ(history, model, ok):
    orders = [name for name in CRITERIA if name != "intermediate-value"]
    assert {name for name in orders if judge(history, model, criterion=name).verdict == "ok"} == ok


def test_a_read_may_see_the_second_of_two_updates_and_not_the_first():
    rows = [
        (0, "add", (1,), None, 1, 8),
        (1, "add", (10,), None, 0, 9),
        (2, "read", (), 1, 2, 3),
        (3, "read", (), 10, 4, 5),
    ]
    history = ops(*rows)
    assert judge(history, "counter").verdict == "violation"
    assert judge(history, "counter", criterion="intermediate-value").verdict == "ok"


def test_a_value_out_of_range_says_the_range():
    verdict = judge(SPLIT, "counter", criterion="intermediate-value")
    assert (verdict.verdict, verdict.failing, list(verdict.partial)) == ("violation", 3, [1])
    assert verdict.message == "read() returned 5, but it must be between 3 and 4"
    assert "not by intermediate value linearizability" in verdict.explain()
    odd = ops((0, "read", (), "many", 0, 1))
    assert judge(odd, "counter", criterion="intermediate-value").verdict == "violation"


class CountMin(SequentialModel):
    """A count-min sketch of two rows of two counters: an estimate is never less than the count."""

    name = "count-min"
    operations = {"update": 1, "estimate": 1}  # noqa: RUF012
    queries = frozenset({"estimate"})

    def init(self):
        return ((0, 0), (0, 0))

    def apply(self, state, call):
        places = (call.arguments[0] % 2, call.arguments[0] // 2 % 2)
        if call.f == "estimate":
            return min(row[place] for row, place in zip(state, places, strict=True)), state
        rows = zip(state, places, strict=True)
        return None, tuple(tuple(count + (at == place) for at, count in enumerate(row)) for row, place in rows)


def test_a_sketch():
    rows = [(0, "update", (0,), None, 0, 9), (1, "update", (3,), None, 1, 8)]
    fine = ops(*rows, (2, "estimate", (0,), 1, 2, 3), (2, "estimate", (1,), 0, 4, 5))
    assert judge(fine, CountMin(), criterion="intermediate-value").verdict == "ok"
    wrong = ops(*rows, (2, "estimate", (0,), 2, 2, 3))
    assert judge(wrong, CountMin(), criterion="intermediate-value").verdict == "violation"


@pytest.mark.parametrize(
    ("history", "model", "criterion", "message"),
    [
        (
            STALE,
            "register",
            "serializability",
            "no criterion is called 'serializability'; choose one of linearizability",
        ),
        (STALE, "register", "intermediate-value", "the model 'register' names no queries"),
        (STALE, "map", "sequential-consistency", "the model 'map' has no operation 'write'"),
        (ops((0, "add", (1,), 0, 0, 1)), "counter", "intermediate-value", "an update must return nothing"),
        (
            ops((0, "read", (), 0, 0, 3), (1, "add", (-1,), None, 1, 2)),
            "counter",
            "intermediate-value",
            r"add\(-1\) lowered read\(\) from 0 to -1",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(history, model, criterion, message):
    with pytest.raises(ValueError, match=message):
        judge(history, model, criterion=criterion)


HARD = ops(
    *[(w, "write", (100 * w + t,), None, 10 * t, 10 * t + 9) for w in range(6) for t in range(7)],
    ("always busy", "write", (-1,), None, -1, 100),
    ("reader", "read", (), "never written", 1, 2),
)


@pytest.mark.parametrize("criterion", ["sequential-consistency", "quiescent-consistency"])
def test_bounds_make_it_unknown(criterion):
    verdict = judge(HARD, "register", criterion=criterion, timeout=0.2)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout of 0.2 s reached")
    assert verdict.seconds < 60, "far beyond what looking at the clock now and then explains"
    verdict = judge(HARD, "register", criterion=criterion, timeout=600, memory=1 << 20)
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory bound of 1 MB reached")


def test_times_may_be_negative_and_tie():
    tie = ops((0, "write", (1,), None, -5, -3), (1, "read", (), None, -3, -2))
    assert judge(tie, "register", criterion="quiescent-consistency").verdict == "ok"
    apart = ops((0, "write", (1,), None, -5, -3), (1, "read", (), None, -2, -1))
    assert judge(apart, "register", criterion="quiescent-consistency").verdict == "violation"
    reads = ops((0, "add", (1,), None, 0, 5), (1, "read", (), 1, -1, 0), (2, "read", (), 0, 5, 6))
    assert judge(reads, "counter", criterion="intermediate-value").verdict == "ok"


def test_pending_operations_may_have_happened():
    for seen, expected in ((1, "ok"), (None, "ok"), (2, "violation")):
        lost = ops((0, "write", (1,), UNKNOWN, 0, None), (1, "read", (), seen, 5, 6))
        for criterion in ("sequential-consistency", "quiescent-consistency"):
            assert judge(lost, "register", criterion=criterion).verdict == expected


@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_empty_history_is_fine(criterion):
    assert judge(ops(), "counter", criterion=criterion).verdict == "ok"
