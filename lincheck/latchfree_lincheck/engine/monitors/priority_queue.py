"""Priority queues whose items are distinct: each item needs a moment at which nothing smaller is certainly there.

For an item let f be the earliest return of its insert and pop and s the latest invocation (infinite if it is never
popped). If f < s the item is certainly in the queue all the time between, its *zone*. A history is linearizable if and
only if every pop of an item x, with a pop that found nothing counting as one of an infinite item, has a moment

- after the invocations of its insert and its pop and before its pop's return,
- outside the zones of all smaller items.

Proof, from the largest item down. It never changes what others pop, so the rest must be linearizable by itself, and
nothing else may be in the queue when it is popped. At a moment outside all other zones nothing else need be: each
other item is certainly gone by then, or not there yet, or its operations are in flight and may be put on either side
together. Put what came before it first, then the pop, then the rest: leaving out items leaves a legal order legal, so
both halves are. An infinite item is the largest.

Items are taken by size, their zones united in a disjoint-set forest over the gaps between events; each gap is covered
once. O(n log n) for the sorting.

Source: derived for this project; compare Lee and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring",
2025.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.monitors.common import NEVER, NOBODY, OK, UNDECIDED, VIOLATION, items_of
from latchfree_lincheck.engine.opcodes import ABSENT, OFFER, TAKE
from latchfree_lincheck.engine.timeline import Ints, int64
from latchfree_lincheck.engine.transition import Rows


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
    """Judge every part; see `latchfree_lincheck.engine.monitors`."""
    items = np.full((values, 2), NOBODY, np.int64)
    uncovered = np.empty(longest + 1, np.int64)
    for part in range(len(verdicts)):
        low, high = bounds[part], bounds[part + 1]
        count = event_bounds[part + 1] - event_bounds[part]
        verdict, suspect, loose = items_of(low, high, invoke, return_, rows, OFFER, items)
        if verdict == OK:
            verdict, suspect = _judge(low, high, count, invoke, return_, rows, items, uncovered)
        verdicts[part] = UNDECIDED if loose and verdict == VIOLATION else verdict
        suspects[part] = suspect
        for i in range(low, high):
            if rows[i, 0] == OFFER:
                items[rows[i, 2]] = NOBODY


@kernel
def _next_uncovered(uncovered: Ints, gap: int) -> int:
    """Return the first gap from there on that no zone covers, halving the way for later."""
    while uncovered[gap] != gap:
        uncovered[gap] = uncovered[uncovered[gap]]
        gap = uncovered[gap]
    return gap


@kernel
def _inserted(low: int, high: int, rows: Rows, items: Ints) -> Ints:
    """Return the items of a part in order."""
    chosen = np.empty(high - low, np.int64)
    found = 0
    if len(items) < 4 * (high - low):
        for value in range(len(items)):
            if items[value, 0] != NOBODY:
                chosen[found] = value
                found += 1
        return chosen[:found]
    for i in range(low, high):
        if rows[i, 0] == OFFER:
            chosen[found] = rows[i, 2]
            found += 1
    return np.sort(chosen[:found])


@kernel
def _judge(
    low: int, high: int, count: int, invoke: Ints, return_: Ints, rows: Rows, items: Ints, uncovered: Ints
) -> tuple[int, int]:
    """Judge one part; gap r lies between event r and the next."""
    for gap in range(count + 1):
        uncovered[gap] = gap
    for value in _inserted(low, high, rows, items):
        put, taken = items[value, 0], items[value, 1]
        begin, end = return_[put], int64(count)
        if taken == NOBODY:
            if begin == NEVER:
                continue
        else:
            end = max(invoke[put], invoke[taken])
            if _next_uncovered(uncovered, end) >= return_[taken]:
                return VIOLATION, taken
            begin = min(begin, return_[taken])
        gap = _next_uncovered(uncovered, begin)
        while gap < end:
            uncovered[gap] = gap + 1
            gap = _next_uncovered(uncovered, gap)
    for i in range(low, high):
        empty = rows[i, 0] == TAKE and rows[i, 4] == ABSENT and return_[i] != NEVER
        if empty and _next_uncovered(uncovered, invoke[i]) >= return_[i]:
            return VIOLATION, i
    return OK, NOBODY
