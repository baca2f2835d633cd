"""Queues whose items are distinct: four bad patterns, and nothing else can be wrong.

For an item let f be the earliest return of its enqueue and dequeue and s the latest invocation (infinite if it is never
dequeued). If f < s the item is certainly in the queue all the time between, its *zone*. A history is linearizable if
and only if

1. every item dequeued was enqueued, once, and its dequeue did not return before its enqueue was invoked;
2. no item is dequeued twice;
3. there are no items a, b with enqueue(a) before enqueue(b), b dequeued, and a never dequeued or dequeue(b) before
   dequeue(a);
4. every dequeue that found nothing has, between its invocation and its return, a moment outside all zones.

Source: Henzinger, Sezgin, Vafeiadis, "Aspect-Oriented Linearizability Proofs", 2013, theorem 3. Their fourth pattern,
a chain of items that cover the dequeue, is the union of zones: an item a of which some operation returned before
some operation of b was invoked, f(a) < s(b), must come and go before b does, and the closure of this from the dequeue's
invocation on grows exactly along overlapping zones.

An enqueue that never returned and whose item nobody got is left out: taking it, and whoever took it, out of an order
leaves the others legal. A dequeue that never returned may take an item that nobody else got, at any time after its
invocation, or do nothing. It is enough to give such items, in order of their enqueues' returns, to such dequeues, in
order of invocation, as long as there are any.

Proof. Let N(t) be how many of those items were certainly enqueued by t and P(t) how many of those dequeues were
invoked. Pattern 3 asks for every item enqueued before b to be gone by the return of b's dequeue, pattern 4 for
every item enqueued before some moment t of an empty dequeue, outside the zones of other items, to be gone by t. Each
asks for the first so many items in order of enqueue, by some time: the requests by T ask for N(x) items, for the
largest x that any of them names. So, by Hall's theorem, they can all be met if and only if N <= P for each by
itself: N at the invocation of enqueue(b) against P at the return of dequeue(b), and N(t) <= P(t). That is what the
order above satisfies whenever any does. And it adds no pattern 3: it takes first what was enqueued first, and its
dequeues are before nothing. Linear time.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, ENQUEUE
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, OK, VIOLATION, items_of
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
    for part in range(len(verdicts)):
        low, high = bounds[part], bounds[part + 1]
        mine = events[event_bounds[part] : event_bounds[part + 1]]
        verdict, suspect, count = items_of(low, high, invoke, return_, rows, ENQUEUE, items, lost)
        if verdict == OK:
            verdict, suspect = _judge(mine, invoke, return_, rows, items, lost[:count])
        verdicts[part], suspects[part] = verdict, suspect
        for i in range(low, high):
            if rows[i, 0] == ENQUEUE:
                items[rows[i, 2]] = NOBODY


@kernel
def _judge(events: Ints, invoke: Ints, return_: Ints, rows: Rows, items: Ints, lost: Ints) -> tuple[int, int]:
    """Sweep the events of one part for patterns 3 and 4."""
    given = 0
    latest = int64(-1)
    until, free = int64(-1), int64(-1)
    for rank in range(len(events)):
        i = events[rank] >> 1
        returned = events[rank] & 1 == 1
        value = rows[i, 2] if rows[i, 0] == ENQUEUE else rows[i, 4]
        if value >= 0:
            put, taken = items[value, 0], items[value, 1]
            if taken == NOBODY and return_[put] == NEVER_RETURNS:
                pass
            elif i == put and not returned:
                if taken != NOBODY and return_[taken] < latest:
                    return VIOLATION, taken
            elif returned:
                if taken == NOBODY and given < len(lost):
                    gone = invoke[lost[given]]
                    given += 1
                else:
                    gone = NEVER_RETURNS if taken == NOBODY else invoke[taken]
                if i == put:
                    latest = max(latest, gone)
                if rank == min(return_[put], NEVER_RETURNS if taken == NOBODY else return_[taken]):
                    until = max(until, invoke[put], gone)
        elif value == ABSENT and returned and free < invoke[i]:
            return VIOLATION, i
        if until <= rank:
            free = int64(rank)
    return OK, NOBODY
