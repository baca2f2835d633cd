"""Many short histories: one by one, and all in one call."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np

from judging.figure import Figure, beside, best
from judging.recorded import record, record_many
from latchfree_lincheck import Column, Columns, History, check, check_many
from latchfree_model import get_model
from peers.plain_wgl import linearizable


def many_small() -> Figure:
    """A hundred histories as Jepsen makes them of etcd."""
    histories = [
        History(f"etcd {seed}", record("cas-register", 80, threads=5, seed=seed, crashes=0.05).operations)
        for seed in range(100)
    ]
    seconds = best(lambda: [check(history, "cas-register") for history in histories])
    model = get_model("cas-register")
    started = time.perf_counter()
    answers = [linearizable(history, model) for history in histories]
    plain = time.perf_counter() - started
    if answers != [check(history, "cas-register").verdict == "ok" for history in histories]:
        raise SystemExit("the plain search and the checker disagree")
    verdicts = ["ok" if answer else "violation" for answer in answers]
    note = f"plain Python {plain:.2f} s{beside(histories, 'cas-register', verdicts, seconds)}"
    return Figure("100 cas-register histories of 80 operations", "s", 0.2, seconds, note=note)


def many_at_once() -> list[Figure]:
    """A hundred thousand map histories of 20 operations, given as columns."""
    recorded, history = record_many("map", 10_000, 20, threads=4, keys=3)
    columns = recorded.take(np.tile(np.arange(len(history)), 10))
    names = (np.repeat(np.arange(10) * 10_000, len(history)) + np.tile(history, 10)).astype(np.int64)
    figures = []
    for kind, asked, values in (("each value written once", 30, None), ("four values", 60, 4)):
        given = columns if values is None else _of_few_values(columns, values)
        found = check_many(given, names)
        if set(found.verdict) != {"ok"}:
            raise SystemExit(f"{kind}: expected ok, but there are {Counter(found.verdict)}")
        seconds = best(lambda given=given: check_many(given, names))  # type: ignore[misc]
        started = time.perf_counter()
        alone = [check(found.one(number), "map").verdict for number in range(2_000)]
        each = 1e6 * (time.perf_counter() - started) / len(alone)
        note = f"10,000 different ones; one by one {each:.0f} us"
        figures.append(Figure(f"100,000 histories, {kind}, each", "us", asked, 1e6 * seconds / len(found), note=note))
    return figures


def _of_few_values(columns: Columns, values: int) -> Columns:
    """Write few values in place of many, which keeps a map without comparisons linearizable."""
    key, value = columns.arguments

    def few(column: Column) -> Column:
        return Column(np.where(column.codes >= 0, column.codes % values, column.codes), column.table)

    return replace(columns, arguments=(key, few(value)), result=few(columns.result))
