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

A pop that never returned may have taken an item *left*, whose insert returned and whose pop is not known. Such an item
must be gone by its deadline, the return of the pop of any larger item that was invoked, like its insert, after it was
inserted for certain. By each time at least as many pending pops must have been invoked as there are deadlines, and
the rest must be linearizable without the items left. If so, they are given by their deadlines, of equal ones the
smallest first, to pending pops in order of invocation. If that leaves an order there is one; if not, it is undecided.

Items are taken by size, their zones united over the gaps between events (see `cover`). O(n log n) for the sorting.

Source: derived for this project; compare Lee and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring",
2025.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.sorting import sort
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, OFFER, TAKE
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import (
    NOBODY,
    OK,
    UNDECIDED,
    VIOLATION,
    by_deadline,
    items_left,
    items_of,
)
from latchfree_lincheck.engine.monitors.cover import Words, clear, cover, next_uncovered
from latchfree_lincheck.engine.monitors.trees import argmax
from latchfree_lincheck.engine.monitors.trees import put as change
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64


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
    items, lost = np.full((values, 2), NOBODY, np.int64), np.empty(longest, np.int64)
    words, jump = np.empty(longest // 64 + 2, np.uint64), np.empty(longest // 64 + 2, np.int64)
    for part in range(len(verdicts)):
        low, high = bounds[part], bounds[part + 1]
        mine = events[event_bounds[part] : event_bounds[part + 1]]
        verdict, suspect, count = items_of(low, high, invoke, return_, rows, OFFER, items, lost)
        if verdict == OK:
            verdict, suspect = _judge_all(mine, low, high, invoke, return_, rows, items, words, jump, lost[:count])
        verdicts[part], suspects[part] = verdict, suspect
        for i in range(low, high):
            if rows[i, 0] == OFFER:
                items[rows[i, 2]] = NOBODY


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
    sort(chosen, 0, found)
    return chosen[:found]


@kernel
def _judge(
    low: int, high: int, count: int, invoke: Ints, return_: Ints, rows: Rows, items: Ints, words: Words, jump: Ints
) -> tuple[int, int]:
    """Judge one part; gap r lies between event r and the next."""
    clear(words, jump, count)
    for value in _inserted(low, high, rows, items):
        put, taken = items[value, 0], items[value, 1]
        begin, end = return_[put], int64(count)
        if taken == NOBODY:
            if begin == NEVER_RETURNS:
                continue
        else:
            if taken == put:
                continue
            end = max(invoke[put], invoke[taken])
            if next_uncovered(words, jump, end) >= return_[taken]:
                return VIOLATION, taken
            begin = min(begin, return_[taken])
        cover(words, jump, begin, end)
    for i in range(low, high):
        empty = rows[i, 0] == TAKE and rows[i, 4] == ABSENT and return_[i] != NEVER_RETURNS
        if empty and next_uncovered(words, jump, invoke[i]) >= return_[i]:
            return VIOLATION, i
    return OK, NOBODY


@kernel
def _judge_all(
    events: Ints,
    low: int,
    high: int,
    invoke: Ints,
    return_: Ints,
    rows: Rows,
    items: Ints,
    words: Words,
    jump: Ints,
    lost: Ints,
) -> tuple[int, int]:
    """Judge one part with pops that never returned; an item left out is one that its own insert took."""
    left = items_left(events, rows, OFFER, items) if len(lost) > 0 else lost
    for put in left:
        items[rows[put, 2], 1] = put
    verdict, suspect = _judge(low, high, len(events), invoke, return_, rows, items, words, jump)
    for put in left:
        items[rows[put, 2], 1] = NOBODY
    if verdict == VIOLATION or len(left) == 0:
        return verdict, suspect
    suspect, given = _give(events, low, high, invoke, return_, rows, items, lost)
    if suspect != NOBODY:
        return VIOLATION, suspect
    for place in range(min(len(given), len(lost))):
        items[rows[given[place], 2], 1] = lost[place]
    verdict, _ = _judge(low, high, len(events), invoke, return_, rows, items, words, jump)
    return (OK if verdict == OK else UNDECIDED), NOBODY


@kernel
def _give(
    events: Ints, low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, items: Ints, lost: Ints
) -> tuple[int, Ints]:
    """Return an operation that shows that there is no order, or NOBODY, and the items left by deadline."""
    leaves = 1
    while leaves < len(events):
        leaves *= 2
    soonest = np.full(2 * leaves, -1, np.int32)
    for i in range(low, high):
        if rows[i, 0] == TAKE and rows[i, 4] == ABSENT and return_[i] != NEVER_RETURNS:
            change(soonest, leaves, invoke[i], len(events) - return_[i])
    left, deadlines = np.empty(high - low, np.int64), np.full(high, NEVER_RETURNS, np.int64)
    count = 0
    for value in _inserted(low, high, rows, items)[::-1]:
        put, taken = items[value, 0], items[value, 1]
        if taken != NOBODY:
            change(soonest, leaves, max(invoke[put], invoke[taken]), len(events) - return_[taken])
        elif return_[put] != NEVER_RETURNS:
            at = argmax(soonest, leaves, return_[put] + 1, leaves)
            if at >= 0:
                deadlines[put] = len(events) - soonest[leaves + at]
            left[count] = put
            count += 1
    return by_deadline(events, invoke, lost, left[:count][::-1].copy(), deadlines)
