"""One element of a set, or a mutex: an object that is there or not, changed over and over.

Successful adds and removes (acquires and releases) *toggle* it; everything else needs it present, or absent. Events
are swept in order of time and nothing takes effect before it must:

- after each change, everything in flight that needs the new state takes effect at once;
- when an operation returns that has not taken effect, the object is toggled until it has, each time by the toggle in
  flight that returns first of those of the right kind;
- if there is none, the history is not linearizable.

Proof that this loses nothing. A need is met as soon as the state allows, which changes nothing for others. Take any
linearization and the first place where the sweep differs. Toggles before a forced return can be moved to just before
it, in pairs if need be: two toggles that nothing forces leave the state as it was, and can wait. Of two toggles of one
kind the one that returns first may as well go first: exchanged, both are still within their intervals, since both
are in flight. Pending toggles return never, so they are taken last.

Needs the results of all operations that returned. O(n log n).
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, CONTAINS, DELETE, INSERT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, OK, VIOLATION
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

_TOGGLES, _NEEDS = 0, 1


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
    heaps, waiting = np.empty((2, longest), np.int64), np.empty((2, longest), np.int64)
    done = np.zeros(len(rows), np.bool_)
    for part in range(len(verdicts)):
        low, high = bounds[part], bounds[part + 1]
        if _served(low, high, return_, rows):
            mine = events[event_bounds[part] : event_bounds[part + 1]]
            present = 0 if first[part] == ABSENT else 1
            verdicts[part], suspects[part] = _judge(mine, return_, rows, present, heaps, waiting, done)


@kernel
def _served(low: int, high: int, return_: Ints, rows: Rows) -> bool:
    for i in range(low, high):
        if rows[i, 0] not in (INSERT, DELETE, CONTAINS):
            return False
        if rows[i, 4] == UNKNOWN_RESULT and return_[i] != NEVER_RETURNS:
            return False
    return True


@kernel
def _role(rows: Rows, i: int, pending: bool) -> tuple[int, int]:
    """Return whether an operation toggles or needs, and the state it finds; (-1, 0) if its result is impossible."""
    code, result = rows[i, 0], rows[i, 4]
    if result not in (0, 1) and not pending:
        return -1, 0
    if code == CONTAINS:
        return _NEEDS, result
    if pending or result == 1:
        return _TOGGLES, 0 if code == INSERT else 1
    return _NEEDS, 1 if code == INSERT else 0


@kernel
def _push(heap: Ints, size: int, item: int) -> None:
    """Add an item to a binary heap of that size, least on top."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > item:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item


@kernel
def _pop(heap: Ints, size: int) -> int:
    """Remove the least item of a binary heap of that size and return it."""
    top, last = heap[0], heap[size - 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return top  # type: ignore[no-any-return]


@kernel
def _judge(
    events: Ints, return_: Ints, rows: Rows, state: int, heaps: Ints, waiting: Ints, done: np.ndarray
) -> tuple[int, int]:
    """Sweep one part. Heaps hold the returns of toggles in flight, by the state they find."""
    sizes, lost, needy = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for event in events:
        i = event >> 1
        pending = return_[i] == NEVER_RETURNS
        if event & 1 == 0:
            if pending and rows[i, 0] == CONTAINS:
                continue
            role, finds = _role(rows, i, pending)
            if role < 0:
                return VIOLATION, i
            if pending:
                lost[finds] += 1
            elif role == _TOGGLES:
                _push(heaps[finds], sizes[finds], return_[i])
                sizes[finds] += 1
            elif finds == state:
                done[i] = True
            else:
                waiting[finds, needy[finds]] = i
                needy[finds] += 1
            continue
        if done[i]:
            continue
        _, finds = _role(rows, i, False)
        while not done[i]:
            if sizes[state] > 0:
                done[events[_pop(heaps[state], sizes[state])] >> 1] = True
                sizes[state] -= 1
            elif lost[state] > 0:
                lost[state] -= 1
            else:
                return VIOLATION, i
            state = 1 - state
            for n in range(needy[state]):
                done[waiting[state, n]] = True
            needy[state] = 0
    return OK, NOBODY
