"""Registers whose writes are distinct: the zones of Gibbons and Korach.

The *cluster* of a value is its write and its reads. Let f be the earliest return in it and s the latest invocation.
If f < s the value was held all the time between: its *zone* ]f, s[ is forward; else the zone [s, f] is backward,
and the whole cluster may happen at any one point of it. The history is linearizable if and only if

- no read saw a value that is not written, or returned before its write was invoked;
- no two forward zones overlap;
- no backward zone lies inside a forward one.

Proof. Cluster A must be before B if some operation of A returned before one of B was invoked: f(A) < s(B). The
conditions say that this never holds both ways. Ordered by min(f, s), no cluster is then before one that must precede
it: let f(A) < s(B). If both are forward, A lies left of B. Else min(f, s) of A is at most f(A) < s(B), and if that of B
were smaller, B would be forward and contain A or reach into it. Within a cluster the write goes first and the reads by
invocation.

The initial value is written before everything. Pending reads say nothing; a pending write that was read has an
infinite return; one that was not has the zone [invocation, infinity[, which disturbs nobody.

Source: Gibbons and Korach, "Testing Shared Memories", 1997.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, GET, PUT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, OK, UNDECIDED, VIOLATION
from latchfree_lincheck.history.timeline import Ints, int64


@kernel
def judge_parts(
    bounds: Ints,
    event_bounds: Ints,
    events: Ints,
    invoke: Ints,
    return_: Ints,
    rows: Rows,
    first: Ints,
    values: int,
    longest: int,
    verdicts: Ints,
    suspects: Ints,
) -> None:
    """Judge every part; see `latchfree_lincheck.engine.monitor`."""
    clusters = np.empty((values, 3), np.int64)
    clusters[:, 0] = NOBODY
    for part in range(len(verdicts)):
        low, high = bounds[part], bounds[part + 1]
        if first[part] != ABSENT:
            continue
        mine = events[event_bounds[part] : event_bounds[part + 1]]
        verdict, suspect = _judge(mine, low, high, invoke, return_, rows, clusters)
        verdicts[part], suspects[part] = verdict, suspect
        for i in range(low, high):
            if rows[i, 0] == PUT and rows[i, 2] >= 0:
                clusters[rows[i, 2], 0] = NOBODY


@kernel
def _judge(
    events: Ints, low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, clusters: Ints
) -> tuple[int, int]:
    """Judge one part. A row of `clusters` is (the write, f, s)."""
    for i in range(low, high):
        code, value = rows[i, 0], rows[i, 2]
        if code == PUT:
            if value == ABSENT or clusters[value, 0] != NOBODY:
                return UNDECIDED, NOBODY
            clusters[value, 0], clusters[value, 1], clusters[value, 2] = i, return_[i], invoke[i]
        elif code != GET:
            return UNDECIDED, NOBODY
    until = int64(-1)
    for i in range(low, high):
        value = rows[i, 4]
        if rows[i, 0] != GET or value == UNKNOWN_RESULT:
            continue
        if value == ABSENT:
            until = max(until, invoke[i])
            continue
        if value < 0 or clusters[value, 0] == NOBODY or return_[i] < invoke[clusters[value, 0]]:
            return VIOLATION, i
        clusters[value, 1] = min(clusters[value, 1], return_[i])
        clusters[value, 2] = max(clusters[value, 2], invoke[i])
    for rank in range(len(events)):
        i = events[rank] >> 1
        value = rows[i, 2] if rows[i, 0] == PUT else rows[i, 4]
        if value < 0:
            continue
        f, s = clusters[value, 1], clusters[value, 2]
        if rank == min(f, s):
            if f < s:
                if f < until:
                    return VIOLATION, i
                until = s
            elif f < until:
                return VIOLATION, i
    return OK, NOBODY
