"""The events of calls in order of time, and calls of one process that overlap."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.lines import INVOKE, PROCESS, RETURN, RETURNED, STATE, Bytes, table_for
from latchfree_lincheck.engine.logs.tokens import number_of
from latchfree_lincheck.history.timeline import Ints


@kernel
def earlier(calls: Ints, one: int, other: int) -> bool:
    """Return whether an event comes before another one; invocations come first where times tie."""
    first = calls[one >> 1, RETURN if one & 1 == 1 else INVOKE]
    second = calls[other >> 1, RETURN if other & 1 == 1 else INVOKE]
    return bool(first < second or (first == second and one & 1 < other & 1))


@kernel
def merge_runs(calls: Ints, source: Ints, target: Ints, low: int, middle: int, high: int) -> None:
    """Merge two runs of events, those of the first before equal ones of the second."""
    one, other = low, middle
    for at in range(low, high):
        if one < middle and (other == high or not earlier(calls, source[other], source[one])):
            target[at] = source[one]
            one += 1
        else:
            target[at] = source[other]
            other += 1


@kernel
def copy(source: Ints, target: Ints, low: int, high: int) -> None:
    """Copy a stretch. An assignment of slices would need numba's runtime."""
    for at in range(low, high):
        target[at] = source[at]


@kernel
def order_events(calls: Ints, count: int, events: Ints, scratch: Ints) -> int:
    """Write the events of calls in order of time, equal ones in the order of the calls; return how many there are.

    See `latchfree_lincheck.history.order.order_events`, which knows faster ways for longer histories.
    """
    size = 0
    for call in range(count):
        events[size] = 2 * call
        size += 1
        if calls[call, STATE] == RETURNED:
            events[size] = 2 * call + 1
            size += 1
    source, target = events, scratch
    width = 1
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            if middle < high and earlier(calls, source[middle], source[middle - 1]):
                merge_runs(calls, source, target, low, middle, high)
            else:
                copy(source, target, low, high)
        source, target = target, source
        width *= 2
    copy(source, events, 0, size)
    return size


@kernel
def one_at_a_time(text: Bytes, calls: Ints, count: int, events: Ints) -> bool:
    """Return whether each process has returned, at an earlier time, before it calls again."""
    table, tokens = table_for(count), np.empty(count, np.int64)
    names = 0
    mine = np.empty(count, np.int64)
    busy = np.zeros(count, np.uint8)
    for call in range(count):
        mine[call] = number_of(text, calls[call, PROCESS], table, tokens, names)
        names = max(names, mine[call] + 1)
    for event in events:
        process = mine[event >> 1]
        if event & 1 == 1:
            busy[process] = 0
        elif busy[process] == 1:
            return False
        else:
            busy[process] = 1
    return True
