"""Coarse clocks: ties overlap, but for the calls of one process, and no violation is invented."""

import numpy as np
import pytest

from latchfree_lincheck import Columns, History, Operation, check, check_many
from latchfree_lincheck.history import InvalidOperation
from latchfree_model import get_model

MODEL = get_model("register")


def write(process, value, invoke, return_):
    return Operation(process, "write", (value,), None, invoke, return_)


def read(process, value, invoke, return_):
    return Operation(process, "read", (), value, invoke, return_)


def verdict(*operations, engine="auto"):
    return check(History("h", operations), MODEL, engine=engine).verdict


def columns(operations):
    return {
        "process": np.array([each.process for each in operations]),
        "f": np.array([each.f for each in operations]),
        "arguments": [[each.arguments[0] if each.arguments else None for each in operations]],
        "result": [each.result for each in operations],
        "invoke": np.array([each.invoke for each in operations]),
        "return_": np.array([each.return_ for each in operations]),
    }


ENGINES = ("auto", "frontier", "wgl", "python")


@pytest.mark.parametrize("engine", ENGINES)
def test_calls_of_one_process_come_one_after_the_other(engine):
    chain = [write(0, 1, 0, 1), write(0, 2, 1, 1), write(0, 3, 1, 2)]
    assert verdict(*chain, read(1, 3, 3, 3), engine=engine) == "ok"
    assert verdict(*chain, read(1, 2, 3, 3), engine=engine) == "violation"
    assert verdict(*reversed(chain), read(1, 2, 3, 3), engine=engine) == "violation"


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_of_different_processes_overlap(engine):
    for seen in (None, 1, 2, 3):
        chain = [write(0, 1, 5, 5), write(0, 2, 5, 5), write(0, 3, 5, 5)]
        assert verdict(*chain, read(1, seen, 4, 5), engine=engine) == "ok"
        assert verdict(*chain, read(1, seen, 5, 6), engine=engine) == "ok"


def test_calls_that_tie_are_ordered_as_they_are_listed():
    assert verdict(write(0, 1, 5, 5), write(0, 2, 5, 5), read(0, 2, 6, 7)) == "ok"
    assert verdict(write(0, 2, 5, 5), write(0, 1, 5, 5), read(0, 2, 6, 7)) == "violation"


def precedes(operations, i, j, weak):
    one, other = operations[i], operations[j]
    if one.return_ < other.invoke:
        return True
    if weak or one.process != other.process or one.return_ != other.invoke:
        return False
    return (one.invoke, one.return_, i) < (other.invoke, other.return_, j)


def brute(operations, weak):
    """Return whether some order respects time, and the order of each process unless `weak`."""
    stack = [(frozenset(), MODEL.init())]
    while stack:
        done, state = stack.pop()
        if len(done) == len(operations):
            return True
        for i in set(range(len(operations))) - done:
            if not any(precedes(operations, j, i, weak) for j in range(len(operations)) if j not in done and j != i):
                legal, after = MODEL.step(state, operations[i].call)
                if legal:
                    stack.append((done | {i}, after))
    return False


def test_no_violation_is_invented_and_few_are_hidden(rng):
    """Exact while one process calls again on a tick; never stricter than the truth, nor weaker than overlap."""
    seen = {"ok": 0, "violation": 0}
    for _ in range(400):
        operations, coarse = [], set()
        for process in range(2):
            clock = rng.randrange(3)
            for turn in range(3):
                after = clock + rng.choice([0, 0, 1])
                value = 10 * process + turn
                operations.append((write if rng.random() < 0.5 else read)(process, value, clock, after))
                clock = after + rng.choice([0, 1])
                if clock == after and turn < 2:
                    coarse.add((process, clock))
        written = [each.arguments[0] for each in operations if each.arguments] or [None]
        operations = [
            each if each.arguments else read(each.process, rng.choice(written), each.invoke, each.return_)
            for each in operations
        ]
        found = verdict(*operations)
        seen[found] += 1
        truth = brute(operations, weak=False)
        ticks = [tick for _, tick in coarse]
        if len(set(ticks)) == len(ticks):
            assert (found == "ok") == truth
        assert found == "ok" or not truth
        assert found == "violation" or brute(operations, weak=True)
        told = History.of_columns("h", **columns(operations))
        assert check(told, MODEL).verdict == found
        many = check_many(Columns.of(**columns(operations), object=None), ["h"] * len(operations), MODEL)
        assert many.verdict.tolist() == [found]
    assert min(seen.values()) > 50


def test_two_calls_at_once_are_refused():
    for second in (write(0, 2, 4, 6), write(0, 2, 0, 5)):
        operations = [write(0, 1, 0, 5), second]
        with pytest.raises(InvalidOperation, match="had not returned from"):
            History("h", operations)
        with pytest.raises(InvalidOperation, match="had not returned from"):
            History.of_columns("h", **columns(operations))


def test_ranks_do_not_show(tmp_path):
    history = History("h", [write(0, 1, 5, 5), write(0, 2, 5, 7)])
    assert [(each.invoke, each.return_) for each in history.operations] == [(5, 5), (5, 7)]
    assert history.events().tolist() == [0, 1, 2, 3]
