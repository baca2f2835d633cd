"""Intermediate values, relaxed: each process may keep its last updates back; one more is a violation."""

import random

import pytest

from latchfree_lincheck import History, Operation, judge
from latchfree_model import UNKNOWN, Call, SequentialModel, get_model


class Kept(SequentialModel[int]):
    """``add(n)``, ``flush()`` and ``read()``: a sum to which processes add from buffers of their own."""

    name = "sum of buffers"
    operations = {"add": 1, "flush": 0, "read": 0}  # noqa: RUF012 -- a constant
    queries = frozenset({"read"})
    flushes = frozenset({"flush"})

    def init(self) -> int:
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        if call.f == "add":
            return None, state + int(str(call.arguments[0]))
        return (state if call.f == "read" else None), state


def ops(*lines):
    return History("h", [Operation(*line) for line in lines])


def verdict(history, relaxation, model=None):
    return judge(history, model or Kept(), criterion="intermediate-value", relaxation=relaxation).verdict


def simulated(seed, most):
    """A run of processes that keep up to `most` adds each, one step at a time."""
    rng, total, waiting, operations = random.Random(seed), 0, {1: [], 2: [], 3: []}, []
    for at in range(0, 200, 4):
        process = rng.choice(list(waiting))
        kept = waiting[process]
        f = rng.choice(["add", "add", "add", "read", "flush"] if most else ["add", "read"])
        result, arguments = None, ()
        if f == "read":
            result = total
        elif f == "flush":
            total += sum(kept)
            kept.clear()
        else:
            arguments = (rng.randrange(1, 9),)
            if len(kept) >= most:
                total += sum(kept)
                kept.clear()
            kept.append(arguments[0])
            if not most:
                total, kept[:] = total + arguments[0], []
        operations.append(Operation(process, f, arguments, result, at, at + rng.choice([1, 2, 3])))
    return History(f"simulated {seed}", operations)


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_buffers_of_a_size_are_within_the_relaxation_of_that_size(most):
    less = 0
    for seed in range(150):
        history = simulated(seed, most)
        assert verdict(history, most) == "ok", seed
        less += most > 0 and verdict(history, most - 1) == "violation"
    assert less > 60 or not most


def test_one_update_more_is_a_violation():
    adds = [(1, "add", (1,), None, 10 * k, 10 * k + 1) for k in range(4)]
    for seen in range(5):
        history = ops(*adds, (2, "read", (), seen, 100, 101))
        assert verdict(history, 3) == ("ok" if seen >= 1 else "violation")
        assert verdict(history, 0) == ("ok" if seen == 4 else "violation")
        assert verdict(history, 4) == "ok"
    above = ops(*adds, (2, "read", (), 5, 100, 101))
    assert verdict(above, 3) == "violation", "never more than was added"
    message = judge(
        ops(*adds, (2, "read", (), 0, 100, 101)), Kept(), criterion="intermediate-value", relaxation=3
    ).message
    assert message == "read() returned 0, but it must be between 1 and 4"


def test_each_process_keeps_its_own():
    """With two buffers twice as much may be missing, and of each the last ones."""
    lines = [(p, "add", (10**p,), None, 10 * k + p, 10 * k + p + 1) for k in range(3) for p in (1, 3)]
    for seen, expected in ((1010, "ok"), (1009, "violation"), (20, "violation"), (3030, "ok"), (3031, "violation")):
        assert verdict(ops(*lines, (5, "read", (), seen, 100, 101)), 2) == expected


def test_nothing_is_kept_after_a_flush():
    lines = [(1, "add", (1,), None, 0, 1), (1, "add", (1,), None, 2, 3), (1, "flush", (), None, 4, 9)]
    assert verdict(ops(*lines, (2, "read", (), 0, 5, 6)), 2) == "ok", "while it flushes"
    assert verdict(ops(*lines, (2, "read", (), 1, 10, 11)), 2) == "violation"
    assert verdict(ops(*lines, (2, "read", (), 2, 10, 11)), 2) == "ok"
    later = (1, "add", (1,), None, 12, 13)
    assert verdict(ops(*lines, later, (2, "read", (), 2, 20, 21)), 2) == "ok"


def test_a_process_keeps_what_is_of_one_object():
    lines = [(1, "add", (1,), None, k, k, name) for k, name in enumerate("ab" * 3)]
    assert verdict(ops(*lines, (2, "read", (), 1, 10, 11, "a"), (2, "read", (), 1, 12, 13, "b")), 2) == "ok"
    assert verdict(ops(*lines, (2, "read", (), 0, 10, 11, "a")), 2) == "violation"


def test_a_pending_update_counts_for_nothing():
    lines = [(1, "add", (1,), None, 0, 1), (1, "add", (1,), UNKNOWN, 2, None)]
    for seen in (0, 1, 2):
        assert verdict(ops(*lines, (2, "read", (), seen, 5, 6)), 1) == "ok"
    assert verdict(ops(*lines, (2, "read", (), 0, 5, 6)), 0) == "violation"


def test_what_has_no_relaxation():
    empty = ops()
    with pytest.raises(ValueError, match="linearizability has no relaxation"):
        judge(empty, "counter", relaxation=1)
    with pytest.raises(ValueError, match="relaxation must be at least 0, got -1"):
        judge(empty, "counter", criterion="intermediate-value", relaxation=-1)
    assert get_model("counter").flushes == frozenset()
