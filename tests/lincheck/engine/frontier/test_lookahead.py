"""Appends that nobody looks at for long: the just-in-time search stays small, and says where it goes wrong."""

import random
from dataclasses import replace

import pytest
from lincheck_brute import brute, brute_failing

from latchfree_lincheck import History, Operation, check
from latchfree_model import UNKNOWN, get_model


def appended(count, processes, seed):
    """Return operations on one string, each taking effect at one instant; few are gets, and fewer puts."""
    rng, text, running, operations, started, time = random.Random(seed), "", {}, [], 0, 0
    while started < count or running:
        process, time = rng.randrange(processes), time + 1
        if process not in running:
            if started < count:
                f = rng.choices(["append", "get", "put"], [60, 30, 2])[0]
                running[process] = [f, (0,) if f == "get" else (0, f"{started} "), time, None]
                started += 1
        elif running[process][3] is None:
            f, arguments, _, _ = running[process]
            running[process][3] = (text if f == "get" else None,)
            text = text if f == "get" else (text if f == "append" else "") + arguments[1]
        else:
            f, arguments, invoke, (result,) = running.pop(process)
            operations.append(Operation(process, f, arguments, result, invoke, time))
    return operations


@pytest.mark.parametrize("seed", range(3))
def test_long_runs_without_a_get_are_decided(seed):
    operations = appended(2_000, 8, seed)
    assert check(History("all", operations), "append-kv", engine="frontier", memory=1 << 28).verdict == "ok"
    late = [at for at, each in enumerate(operations) if each.f == "get" and len(each.result) > 20][-2]
    operations[late] = replace(operations[late], result=operations[late].result[:-8])
    verdict = check(History("late", operations), "append-kv", engine="frontier", memory=1 << 28)
    assert verdict.verdict == "violation"
    assert operations[verdict.failing].return_ <= operations[late].return_


def overlapping(rng):
    """Return a few operations on one string, of pieces that begin alike; some are lost, and some gets are wrong."""
    text, running, operations, pieces = "", {}, [], ["a", "ab", "b", "ba", "abab", ""]
    for time in range(rng.choice([10, 16, 22])):
        process = rng.randrange(4)
        if process not in running:
            f = rng.choices(["append", "get", "put"], [6, 4, 1])[0]
            running[process] = [f, (0,) if f == "get" else (0, rng.choice(pieces)), time, None]
        elif running[process][3] is None:
            f, arguments, _, _ = running[process]
            running[process][3] = (text if f == "get" else None,)
            text = text if f == "get" else (text if f == "append" else "") + arguments[1]
        elif rng.random() < 0.8:
            f, arguments, invoke, (result,) = running.pop(process)
            if f == "get" and rng.random() < 0.3:
                result = rng.choice([result[:-1], result + rng.choice(pieces), rng.choice(pieces) + result])
            operations.append(Operation(process, f, arguments, result, invoke, time))
    lost = [Operation(process, f, arguments, UNKNOWN, t, None) for process, (f, arguments, t, _) in running.items()]
    return [*operations, *lost]


def compared(rng, count):
    """Judge histories by the frontier and by the definition; return how many had each verdict."""
    found = {"ok": 0, "violation": 0}
    model = get_model("append-kv")
    for _ in range(count):
        operations = overlapping(rng)
        verdict = check(History("few", operations), model, engine="frontier")
        assert verdict.verdict == ("ok" if brute(operations, model) else "violation"), operations
        assert verdict.verdict == "ok" or verdict.failing == brute_failing(History("few", operations).operations, model)
        found[verdict.verdict] += 1
    return found


def test_pieces_that_begin_alike():
    assert min(compared(random.Random(7), 300).values()) > 50


@pytest.mark.slow
def test_many_pieces_that_begin_alike(rng):
    assert min(compared(rng, 30_000).values()) > 5_000
