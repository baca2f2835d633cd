"""Stacks whose items are distinct: find what lies at the bottom, take it out, and look at the rest.

For an item let f be the earliest return of its push and pop and s the latest invocation (infinite if it is never
popped). If f < s the item is certainly on the stack all the time between, its *zone*; else its push and pop can be
neighbours, which disturbs nobody anywhere, so the item is left out.

Unite the zones. Where no zone is, the stack may be empty: items on either side do not meet, and a pop that found
nothing needs such a moment. In a maximal run of overlapping zones, from L to R, the stack is never empty, so one item
is at the bottom throughout: it is pushed before and popped after all others. It can be any item whose push was
invoked before L and whose pop returned after R, and there must be one.

Proof. L is the first return in the run, so what is pushed first is pushed before it; R likewise. Let x and y both
qualify, and y be at the bottom of some linearization. Move x's push to the very beginning and its pop to the very end:
no operation of the run returned before x's push was invoked, nor was any invoked after x's pop returned, so real time
allows it, and taking x out from between others leaves a legal order.

So the bottom item is taken out and what is left falls into runs again; a run of one item needs no look. The item whose
zone begins a run was pushed before L, so it is tried first. For the others, runs are taken from left to right; then L
never falls, items become candidates in order of their push's invocation, and a maximum tree over them yields the one
whose pop returned last. O(n log n).

Runs are found in a minimum tree of how many zones cover each stretch. Taking the bottom item of a run out takes one
zone off all of the run but where its own is not. So nothing is taken off: the run is a *level* deeper, its zones end
where no more than that many are, and only the stretches before and after the item's zone get one more.

Source: derived for this project; compare Lee and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring",
2025.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, PUSH, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, OK, UNDECIDED, VIOLATION, items_left, items_of
from latchfree_lincheck.engine.monitors.pending_pops import give
from latchfree_lincheck.engine.monitors.trees import Ints32, add, argmax, depths, next_at_most, put
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
        verdict, suspect, count = items_of(low, high, invoke, return_, rows, PUSH, items, lost)
        if verdict == OK:
            verdict, suspect = _judge_all(mine, low, high, invoke, return_, rows, items, lost[:count])
        verdicts[part], suspects[part] = verdict, suspect
        for i in range(low, high):
            if rows[i, 0] == PUSH:
                items[rows[i, 2]] = NOBODY


@kernel
def _zones(
    events: Ints,
    low: int,
    invoke: Ints,
    return_: Ints,
    rows: Rows,
    items: Ints,
    rank_of: Ints32,
    zones: Ints32,
    number_of: Ints32,
) -> tuple[int, int]:
    """Order the zones by their beginnings, and all their ends in order of time; find pops of nothing within zones.

    Fills ``rank_of[end]``; ``zones[number]`` with the first and the last end and when the pop returned; and, by push
    from `low` on, `number_of`.
    Returns how many zones there are, and an operation that is wrong or NOBODY.
    """
    numbers, ends = 0, 0
    until, free = int64(-1), int64(-1)
    for rank in range(len(events)):
        i = events[rank] >> 1
        returned = events[rank] & 1 == 1
        value = rows[i, 2] if rows[i, 0] == PUSH else rows[i, 4]
        if value >= 0:
            pushed, popped = items[value, 0], items[value, 1]
            begin, end = return_[pushed], int64(NEVER_RETURNS)
            if popped != NOBODY:
                begin, end = min(begin, return_[popped]), max(invoke[pushed], invoke[popped])
            if begin < end and rank == begin:
                rank_of[ends], zones[numbers, 0], zones[numbers, 1] = rank, ends, -1
                zones[numbers, 2] = min(NEVER_RETURNS if popped == NOBODY else return_[popped], int64(len(events) + 1))
                number_of[pushed - low] = numbers
                numbers += 1
                ends += 1
                until = max(until, end)
            elif begin < end and rank == end:
                rank_of[ends], zones[number_of[pushed - low], 1] = rank, ends
                ends += 1
        elif value == ABSENT and returned and free < invoke[i]:
            return numbers, i
        if until <= rank:
            free = int64(rank)
    for number in range(numbers):
        if zones[number, 1] < 0:
            rank_of[ends], zones[number, 1] = len(events), ends
            ends += 1
    return numbers, NOBODY


@kernel
def _judge(events: Ints, low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, items: Ints) -> tuple[int, int]:
    """Judge one part: take the bottom item out of one run after the other."""
    most = high - low
    rank_of, zones = np.empty(2 * most, np.int32), np.empty((most, 3), np.int32)
    number_of = np.full(most, -1, np.int32)
    numbers, wrong = _zones(events, low, invoke, return_, rows, items, rank_of, zones, number_of)
    if wrong != NOBODY:
        return VIOLATION, wrong
    if numbers == 0:
        return OK, NOBODY
    leaves = covers = 1
    while leaves < numbers:
        leaves *= 2
    while covers < 2 * numbers:
        covers *= 2
    latest = np.full(2 * leaves, -1, np.int32)
    least, more = depths(zones[:numbers], covers)
    begun = np.zeros(2 * numbers + 1, np.int32)
    for number in range(numbers):
        begun[zones[number, 0] + 1] = 1
    for end in range(2 * numbers):
        begun[end + 1] += begun[end]
    waiting = np.empty((numbers + 1, 3), np.int32)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, 2 * numbers - 1, 0
    top, reached = 0, low
    while top >= 0:
        begin, last, level = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        end = next_at_most(least, more, covers, begin, level)
        waiting[top, 0] = end + 1
        if end + 1 >= last:
            top -= 1
        if end - begin < 2:
            continue
        left, right = rank_of[begin], rank_of[end]
        number = begun[begin]
        if zones[number, 2] <= right:
            while reached < high and invoke[reached] < left:
                candidate = number_of[reached - low]
                if candidate >= 0:
                    put(latest, leaves, candidate, zones[candidate, 2])
                reached += 1
            number = argmax(latest, leaves, number, begun[end])
            if number < 0 or zones[number, 2] <= right:
                return VIOLATION, events[right if right < len(events) else left] >> 1
            put(latest, leaves, number, -1)
        first, after = zones[number, 0], zones[number, 1]
        if begin < first:
            add(least, more, covers, begin, first, 1)
        else:
            begin += 1
        if after < end:
            add(least, more, covers, after, end, 1)
        top += 1
        waiting[top, 0], waiting[top, 1], waiting[top, 2] = begin, end, level + 1
    return OK, NOBODY


@kernel
def _judge_all(
    events: Ints, low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, items: Ints, lost: Ints
) -> tuple[int, int]:
    """Judge one part with pops that never returned."""
    left = items_left(events, rows, PUSH, items) if len(lost) > 0 else lost
    if len(left) == 0:
        return _judge(events, low, high, invoke, return_, rows, items)
    for pushed in left:
        items[rows[pushed, 2], 1] = pushed
    verdict, suspect = _judge(events, low, high, invoke, return_, rows, items)
    for pushed in left:
        items[rows[pushed, 2], 1] = NOBODY
    if verdict == VIOLATION:
        return verdict, suspect
    suspect, given = give(events, invoke, return_, rows, items, lost, left)
    if suspect != NOBODY:
        return VIOLATION, suspect
    for place in range(min(len(given), len(lost))):
        value = rows[given[place], 2]
        items[value, 1] = lost[place]
        rows[lost[place], 4] = value
    verdict, _ = _judge(events, low, high, invoke, return_, rows, items)
    for popped in lost:
        rows[popped, 4] = UNKNOWN_RESULT
    return (OK if verdict == OK else UNDECIDED), NOBODY
