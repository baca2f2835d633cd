"""The events of histories in order of time, invocations first where times tie, so that ties count as overlap.

One history is ordered by counting if its times come from a ticket counter, else by sorting. Of many histories, rows
that come in order of invocation are almost in order, so each is sorted by insertion. A history that takes more than
`PATIENCE` moves an event is ordered by itself.

A history of up to `SMALL` operations is ordered without compiled code where that is not compiled yet.

`order_histories` also finds the histories that cannot be: an operation returns before it is invoked, or one process
runs two operations at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.history.border import HISTORY
from latchfree_lincheck.history.timeline import Ints

PATIENCE: Final = 64
_SPARSE: Final = 8
SMALL: Final = 10_000


def order_events(invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_]) -> Ints:
    """Return all events, ``2 * operation`` or one more for a return, in order of time."""
    n = len(invoke)
    if n == 0:
        return np.zeros(0, np.int64)
    if n > SMALL or HISTORY.is_there("count_events"):
        found = np.empty(2, np.int64)
        HISTORY.span(invoke, return_, returned, found)
        low, high = found.tolist()
        events = np.empty(n + int(np.count_nonzero(returned)), np.int64)
        if high - low < _SPARSE * n + 1024:
            HISTORY.count_events(invoke, return_, returned, low, np.zeros(2 * (high - low) + 3, np.int32), events)
            return events
    done = np.flatnonzero(returned)
    times = np.concatenate([invoke, return_[done]])
    kinds = np.concatenate([2 * np.arange(n), 2 * done + 1])
    return kinds[np.argsort(times, kind="stable")]  # invocations stand before returns, so they come first in a tie


def find_overlap(events: Ints, process: Ints) -> tuple[int, int]:
    """Return the first operation whose process had not returned from another one, and that one; -1 if there is none."""
    if len(process) > SMALL or HISTORY.is_there("first_overlap"):
        found = np.array([-1, -1])
        HISTORY.first_overlap(events, process, found)
        return int(found[0]), int(found[1])
    processes, busy = process.tolist(), dict[int, int]()
    for event in events.tolist():
        operation = event >> 1
        if event & 1:
            del busy[processes[operation]]
        elif processes[operation] in busy:
            return operation, busy[processes[operation]]
        else:
            busy[processes[operation]] = operation
    return -1, -1


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
    HISTORY.insert_all(
        bounds, invoke, return_, returned, np.empty_like(events), events, event_bounds, disordered, impossible, PATIENCE
    )
    for each in np.flatnonzero(disordered & ~impossible).tolist():
        low, high = bounds[each], bounds[each + 1]
        mine = order_events(invoke[low:high], return_[low:high], returned[low:high])
        events[event_bounds[each] : event_bounds[each + 1]] = mine + 2 * low
    busy = np.full(int(process.max(initial=0)) + 1, -1, np.int64)
    HISTORY.find_overlaps(bounds, event_bounds, events, process, busy, impossible)
    return events, event_bounds, impossible
