"""The items that a stack's pending pops may have taken.

A pop that never returned may have taken an item that no other pop got, at any time after its invocation. Items *left*
are those whose push returned and whose pop is not known. One must be gone by its *deadline*,

- the return of the pop of any item that was certainly on the stack during all of its push and for some time after:
  it lay on top of that;
- the last moment at which a pop that found nothing, invoked after its push returned, can have found nothing: a moment
  outside the zones of items popped by known pops, by which no more items left were pushed for certain than
  pending pops were invoked.

So by each time T at least as many pending pops must have been invoked as there are items with a deadline by T; if not,
the history is not linearizable. Nor is it if it is not without the items left: leaving an item out keeps an order
legal.

If both hold, items are given by their deadlines, of equal ones the last pushed first, to pending pops in order of
invocation; those no pop is left for stay. If the monitor finds an order then, there is one. If not, there may be
one that gives them away in another way, and the history is undecided: how long an item may stay depends on which
others do, because an item must be gone before what it lies on, and that may be popped sooner or later. O(n log n).

Source: derived for this project.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, PUSH, TAKE
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, by_deadline
from latchfree_lincheck.engine.monitors.trees import argmax, put
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64


@kernel
def give(
    events: Ints, invoke: Ints, return_: Ints, rows: Rows, items: Ints, lost: Ints, left: Ints
) -> tuple[int, Ints]:
    """Return an operation that shows that there is no order, or NOBODY, and the items in the order to give them."""
    deadlines = np.full(len(rows), NEVER_RETURNS, np.int64)
    suspect = _before_empty(events, invoke, return_, rows, items, lost, deadlines)
    if suspect != NOBODY:
        return suspect, left
    _before_below(events, invoke, return_, rows, items, deadlines)
    return by_deadline(events, invoke, lost, left[::-1].copy(), deadlines)


@kernel
def _before_empty(
    events: Ints, invoke: Ints, return_: Ints, rows: Rows, items: Ints, lost: Ints, deadlines: Ints
) -> int:
    """Write the deadlines that pops of nothing set; return one that has no moment, or NOBODY."""
    last = np.full(len(events), NEVER_RETURNS, np.int64)
    until, free = int64(-1), int64(-1)
    pushed, invoked = 0, 0
    for rank in range(len(events)):
        i = events[rank] >> 1
        returned = events[rank] & 1 == 1
        value = rows[i, 2] if rows[i, 0] == PUSH else rows[i, 4]
        if rows[i, 0] == TAKE and return_[i] == NEVER_RETURNS:
            invoked += 1
        elif value >= 0:
            first, second = items[value, 0], items[value, 1]
            if second != NOBODY and rank == min(return_[first], return_[second]):
                until = max(until, invoke[first], invoke[second])
            elif second == NOBODY and returned:
                pushed += 1
        elif value == ABSENT and returned:
            if free < invoke[i]:
                return int(i)
            last[invoke[i]] = free + 1
        if until <= rank and pushed <= invoked:
            free = int64(rank)
    soonest = int64(NEVER_RETURNS)
    for rank in range(len(events) - 1, -1, -1):
        i = events[rank] >> 1
        soonest = min(soonest, last[rank])
        if events[rank] & 1 == 1:
            deadlines[i] = min(deadlines[i], soonest)
    return NOBODY


@kernel
def _before_below(events: Ints, invoke: Ints, return_: Ints, rows: Rows, items: Ints, deadlines: Ints) -> None:
    """Write the deadlines that items below set: by the invocation of their pops, the soonest return in a tree."""
    leaves = 1
    while leaves < len(events):
        leaves *= 2
    soonest = np.full(2 * leaves, -1, np.int32)
    for rank in range(len(events)):
        i = events[rank] >> 1
        if rows[i, 0] != PUSH:
            continue
        popped = items[rows[i, 2], 1]
        if events[rank] & 1 == 1:
            if popped != NOBODY:
                put(soonest, leaves, invoke[popped], len(events) - return_[popped])
        elif popped == NOBODY and return_[i] != NEVER_RETURNS:
            at = argmax(soonest, leaves, return_[i] + 1, leaves)
            if at >= 0:
                deadlines[i] = min(deadlines[i], int64(len(events) - soonest[leaves + at]))
