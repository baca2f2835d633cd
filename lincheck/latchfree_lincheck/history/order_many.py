"""The events of many histories, each in order of time, invocations first where times tie.

Rows that come in order of invocation are almost in order, so each history is sorted by insertion; one that takes more
than `PATIENCE` moves an event is left to `order_events`.

On the way, histories that cannot be are found: those with an operation that returns before it is invoked, or with two
operations of one process at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.history.order import order_events
from latchfree_lincheck.history.timeline import Ints

PATIENCE: Final = 64


def order_histories(
    bounds: Ints, invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_], process: Ints
) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Order the events of histories by time.

    Parameters
    ----------
    bounds : int64[histories + 1]
        The rows of each history.
    invoke, return_ : int64[n]
        Times; of a row that is not `returned` the return is not looked at.
    returned : bool[n]
        Which operations returned.
    process : int64[n]
        Small numbers >= 0.

    Returns
    -------
    events : int64[e]
        ``2 * row`` for an invocation, one more for a return, history after history.
    event_bounds : int64[histories + 1]
        The events of each history.
    impossible : bool[histories]
        Which histories cannot be; what stands in place of their events means nothing.
    """
    count = len(bounds) - 1
    events = np.empty(len(invoke) + int(np.count_nonzero(returned)), np.int64)
    event_bounds = np.zeros(count + 1, np.int64)
    disordered, impossible = np.zeros((2, count), np.bool_)
    _insert_all(bounds, invoke, return_, returned, np.empty_like(events), events, event_bounds, disordered, impossible)
    for each in np.flatnonzero(disordered & ~impossible).tolist():
        low, high = bounds[each], bounds[each + 1]
        mine = order_events(invoke[low:high], return_[low:high], returned[low:high])
        events[event_bounds[each] : event_bounds[each + 1]] = mine + 2 * low
    busy = np.full(int(process.max(initial=0)) + 1, -1, np.int64)
    _find_overlaps(bounds, event_bounds, events, process, busy, impossible)
    return events, event_bounds, impossible


@kernel
def _insert_all(
    bounds: Ints,
    invoke: Ints,
    return_: Ints,
    returned: Any,
    times: Ints,
    events: Ints,
    event_bounds: Ints,
    disordered: Any,
    impossible: Any,
) -> None:
    """Sort the events of each history by insertion, and note which operations return too early."""
    end = 0
    for history in range(len(bounds) - 1):
        first = end
        moves = 0
        most = PATIENCE * 2 * (bounds[history + 1] - bounds[history])
        for row in range(bounds[history], bounds[history + 1]):
            if moves <= most:
                moves += _insert(times, events, first, end, invoke[row], 2 * row)
            end += 1
            if returned[row]:
                if return_[row] <= invoke[row]:
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
def _find_overlaps(bounds: Ints, event_bounds: Ints, events: Ints, process: Ints, busy: Ints, impossible: Any) -> None:
    """Note histories in which a process calls while it is busy; `busy` is the row each process is at."""
    for history in range(len(bounds) - 1):
        if impossible[history]:
            continue
        low = bounds[history]
        for at in range(event_bounds[history], event_bounds[history + 1]):
            row = events[at] >> 1
            if events[at] & 1 == 1:
                busy[process[row]] = -1
            elif busy[process[row]] >= low:
                impossible[history] = True
                break
            else:
                busy[process[row]] = row
