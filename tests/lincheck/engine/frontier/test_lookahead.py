"""Appends that nobody looks at for long: the just-in-time search stays small, and says where it goes wrong."""

import random
from dataclasses import replace

import pytest

from latchfree_lincheck import History, Operation, check


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
