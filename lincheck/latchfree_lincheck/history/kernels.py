"""The compiled code that orders events by time and finds processes that are in two calls at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.history.timeline import Ints, int64


@kernel
def span(invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_], found: Ints) -> None:
    """Write the first and the last time into `found`."""
    low, high = invoke[0], invoke[0]
    for i in range(len(invoke)):
        low = min(low, invoke[i])
        high = max(high, invoke[i])
        if returned[i]:
            high = max(high, return_[i])
    found[0], found[1] = low, high


@kernel
def count_events(
    invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_], low: int, starts: Any, events: Ints
) -> None:
    """Sort events by counting; `starts` is zero for each time and kind, and two more."""
    for i in range(len(invoke)):
        starts[2 * (invoke[i] - low) + 1] += 1
        if returned[i]:
            starts[2 * (return_[i] - low) + 2] += 1
    for k in range(1, len(starts)):
        starts[k] += starts[k - 1]
    for i in range(len(invoke)):
        k = 2 * (invoke[i] - low)
        events[starts[k]] = 2 * i
        starts[k] += 1
        if returned[i]:
            k = 2 * (return_[i] - low) + 1
            events[starts[k]] = 2 * i + 1
            starts[k] += 1


@kernel
def insert_all(
    bounds: Ints,
    invoke: Ints,
    return_: Ints,
    returned: Any,
    times: Ints,
    events: Ints,
    event_bounds: Ints,
    disordered: Any,
    impossible: Any,
    patience: int,
) -> None:
    """Sort the events of each history by insertion, and note which operations return too early.

    A history that takes more than `patience` moves an event is `disordered`, and its events are left in any order.
    """
    end = 0
    for history in range(len(bounds) - 1):
        first = end
        moves = 0
        most = patience * 2 * (bounds[history + 1] - bounds[history])
        for row in range(bounds[history], bounds[history + 1]):
            if moves <= most:
                moves += _insert(times, events, first, end, invoke[row], 2 * row)
            end += 1
            if returned[row]:
                if return_[row] < invoke[row]:
                    impossible[history] = True
                if moves <= most:
                    moves += _insert(times, events, first, end, return_[row], 2 * row + 1)
                end += 1
        disordered[history] = moves > most
        event_bounds[history + 1] = end


@kernel
def _insert(times: Ints, events: Ints, first: int, end: int, time: int, event: int) -> int:
    """Insert an event into those from `first` to `end`; return how many had to move."""
    at = end
    while at > first and (
        times[at - 1] > time or (times[at - 1] == time and events[at - 1] & 1 == 1 and event & 1 == 0)
    ):
        times[at] = times[at - 1]
        events[at] = events[at - 1]
        at -= 1
    times[at] = time
    events[at] = event
    return end - at


@kernel
def _overlap(events: Ints, first: int, last: int, process: Ints, lowest: int, busy: Ints, low: int) -> int:
    """Return the first place among events first .. last-1 at which a process calls while it is busy, or -1.

    `busy` is the operation that each process (its number less `lowest`) runs; one below `low` is none.
    """
    for place in range(first, last):
        operation = events[place] >> 1
        at = process[operation] - lowest
        if events[place] & 1 == 1:
            busy[at] = -1
        elif busy[at] >= low:
            return place
        else:
            busy[at] = operation
    return -1


@kernel
def first_overlap(events: Ints, process: Ints, found: Ints) -> None:
    """Write the first operation whose process had not returned from another one, and that one, if there is one."""
    lowest, highest = int64(0), int64(0)
    for each in process:
        lowest, highest = min(lowest, each), max(highest, each)
    busy = np.full(highest - lowest + 1, -1, np.int64)
    place = _overlap(events, 0, len(events), process, lowest, busy, 0)
    if place >= 0:
        operation = events[place] >> 1
        found[0], found[1] = operation, busy[process[operation] - lowest]


@kernel
def find_overlaps(bounds: Ints, event_bounds: Ints, events: Ints, process: Ints, busy: Ints, impossible: Any) -> None:
    """Note histories in which a process calls while it is busy; `busy` has a place for each process, each -1."""
    for history in range(len(bounds) - 1):
        if not impossible[history]:
            first, last = event_bounds[history], event_bounds[history + 1]
            impossible[history] = _overlap(events, first, last, process, 0, busy, bounds[history]) >= 0
