"""The events of a history in order of time, invocations first where times tie, so that ties count as overlap.

With times from a ticket counter the order comes from counting, else from sorting.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.history.timeline import Ints, int64

_SPARSE: Final = 8


def order_events(invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_]) -> Ints:
    """Return all events, ``2 * operation`` or one more for a return, in order of time."""
    n = len(invoke)
    if n == 0:
        return np.zeros(0, np.int64)
    low, high = _span(invoke, return_, returned)
    events = np.empty(n + int(np.count_nonzero(returned)), np.int64)
    if high - low < _SPARSE * n + 1024:
        _count_events(invoke, return_, returned, low, np.zeros(2 * (high - low) + 3, np.int32), events)
        return events
    done = np.flatnonzero(returned)
    times = np.concatenate([invoke, return_[done]])
    kinds = np.concatenate([2 * np.arange(n), 2 * done + 1])
    return kinds[np.lexsort((kinds & 1, times))]


@kernel
def _span(invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return the first and the last time."""
    low, high = invoke[0], invoke[0]
    for i in range(len(invoke)):
        low = min(low, invoke[i])
        high = max(high, invoke[i])
        if returned[i]:
            high = max(high, return_[i])
    return low, high


@kernel
def _count_events(
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
def first_overlap(events: Ints, process: Ints) -> tuple[int, int]:
    """Return the first operation whose process had not returned from another one, and that one; -1 if there is none."""
    lowest, highest = int64(0), int64(0)
    for each in process:
        lowest, highest = min(lowest, each), max(highest, each)
    busy = np.full(highest - lowest + 1, -1, np.int64)
    for event in events:
        operation = event >> 1
        at = process[operation] - lowest
        if event & 1 == 1:
            busy[at] = -1
        elif busy[at] >= 0:
            return operation, busy[at]
        else:
            busy[at] = operation
    return int64(-1), int64(-1)
