"""One key of a map whose values are distinct and whose operations return the value before.

Old values chain the writes into *lives*: a put that found nothing, puts that each found the value of the one before,
and perhaps a remove that found the last. Reads belong to the value they saw. A history is linearizable if and only if

1. every value seen was written, no value has two successors, every write is in some life, and at most one life has no
   remove;
2. within each life, the operations in chain order, with the reads of a value between its write and its successor,
   have increasing points in their intervals;
3. with f the earliest return and s the latest invocation of a life (infinite if it has no remove), the zones of the
   lives, and the intervals of operations that found nothing as backward zones, are as in `register`.

Proof. The order within a life is forced but for reads of one value, which commute. So (2) is decided by giving each
operation in turn the earliest point possible: t = max(t, invocation), which must be before its return; of the reads of
a value only the earliest return and the latest invocation matter. Between lives the key is absent, so lives are
contiguous, as clusters are; operations that found nothing stand between lives. The rest is the proof of `register`.

Conditional operations that succeeded are writes with a known old value, those that failed are reads where they tell
the value; so is a put of the value that was there. A failed comparison, or `contains` that was true, tells no value:
such parts are not served.

Source: derived for this project; compare Gibbons and Korach, "Testing Shared Memories", 1997, on read-modify-write.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import (
    ABSENT,
    CONTAINS,
    GET,
    IMPOSSIBLE,
    PUT,
    PUT_IF_ABSENT,
    REMOVE,
    REMOVE_IF,
    REPLACE,
    REPLACE_IF,
    UNKNOWN_RESULT,
)
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.monitors.common import NOBODY, OK, UNDECIDED, VIOLATION
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

_NOTHING = -1
_UNSERVED = -2
_WRONG = -3

# The columns of a value: its write, its successor, the earliest return and the latest invocation of its reads.
_WRITE, _NEXT, _RETURN, _INVOKE = 0, 1, 2, 3


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
    table = np.empty((values, 4), np.int64)
    table[:, 0] = NOBODY
    zones = np.empty(longest + 1, np.int64)
    for part in range(len(verdicts)):
        if first[part] != ABSENT:
            continue
        low, high = bounds[part], bounds[part + 1]
        count = event_bounds[part + 1] - event_bounds[part]
        verdict, suspect, loose = _judge(low, high, count, invoke, return_, rows, table, zones)
        verdicts[part] = UNDECIDED if loose and verdict == VIOLATION else verdict
        suspects[part] = suspect
        for i in range(low, high):
            for column in range(2, 5):
                if rows[i, column] >= 0 and rows[i, column] < values:
                    table[rows[i, column], _WRITE] = NOBODY


@kernel
def _old_and_new(rows: Rows, i: int) -> tuple[int, int]:
    """Return the value a row found and the one it left; _UNSERVED, or _WRONG for what no state allows."""
    code, a, b, result = rows[i, 0], rows[i, 2], rows[i, 3], rows[i, 4]
    if result == IMPOSSIBLE:
        return _WRONG, _WRONG
    if code == GET:
        return result, result
    if code == CONTAINS:
        return (_NOTHING, _NOTHING) if result == 0 else (_UNSERVED, _UNSERVED)
    if result == UNKNOWN_RESULT:
        return _UNSERVED, _UNSERVED
    if code == PUT:
        return result, a
    if code == REMOVE:
        return result, _NOTHING
    if code == PUT_IF_ABSENT:
        return result, a if result == ABSENT else result
    if code == REPLACE:
        return result, result if result == ABSENT else a
    if code in (REPLACE_IF, REMOVE_IF):
        if result == 0:
            return _UNSERVED, _UNSERVED
        if a < 0:
            return _WRONG, _WRONG
        return a, b if code == REPLACE_IF else _NOTHING
    return _UNSERVED, _UNSERVED


@kernel
def _judge(
    low: int, high: int, count: int, invoke: Ints, return_: Ints, rows: Rows, table: Ints, zones: Ints
) -> tuple[int, int, bool]:
    """Judge one part; also return whether pending operations were left out that may have had an effect."""
    loose = False
    changes = 0
    wrong = NOBODY
    for i in range(low, high):
        code = rows[i, 0]
        if code > CONTAINS:
            return UNDECIDED, NOBODY, loose
        if return_[i] == NEVER_RETURNS or (code in (GET, CONTAINS) and rows[i, 4] == UNKNOWN_RESULT):
            loose = loose or code not in (GET, CONTAINS)
            continue
        old, new = _old_and_new(rows, i)
        if old == _UNSERVED:
            return UNDECIDED, NOBODY, loose
        if old == _WRONG:
            wrong = i
        elif old != new and new != _NOTHING:
            if table[new, _WRITE] != NOBODY:
                return UNDECIDED, NOBODY, loose
            table[new, _WRITE], table[new, _NEXT] = i, NOBODY
            table[new, _RETURN], table[new, _INVOKE] = NEVER_RETURNS, -1
    if wrong != NOBODY:
        return VIOLATION, wrong, loose
    for i in range(low, high):
        if return_[i] == NEVER_RETURNS or rows[i, 4] == UNKNOWN_RESULT:
            continue
        old, new = _old_and_new(rows, i)
        if old != new:
            changes += 1
        if old == _NOTHING:
            continue
        if table[old, _WRITE] == NOBODY:
            return VIOLATION, i, loose
        if old == new:
            table[old, _RETURN] = min(table[old, _RETURN], return_[i])
            table[old, _INVOKE] = max(table[old, _INVOKE], invoke[i])
        elif table[old, _NEXT] != NOBODY:
            return VIOLATION, i, loose
        else:
            table[old, _NEXT] = i
    zones[:count] = NEVER_RETURNS
    endless = 0
    for i in range(low, high):
        if return_[i] == NEVER_RETURNS or rows[i, 4] == UNKNOWN_RESULT:
            continue
        old, new = _old_and_new(rows, i)
        if old != _NOTHING:
            continue
        if new == _NOTHING:
            zones[invoke[i]] = -return_[i] - 1
            continue
        f, s, used, bad = _live(i, new, count, invoke, return_, rows, table)
        if bad != NOBODY:
            return VIOLATION, bad, loose
        changes -= used
        if s == count:
            endless += 1
            if endless > 1:
                return VIOLATION, i, loose
        if f < s:
            zones[f] = s
        else:
            zones[s] = -f - 1
    if changes != 0:
        return VIOLATION, low, loose
    until = int64(-1)
    for rank in range(count):
        zone = zones[rank]
        if zone == NEVER_RETURNS:
            continue
        if (rank if zone >= 0 else -zone - 1) < until:
            return VIOLATION, low, loose
        if zone >= 0:
            until = zone
    return OK, NOBODY, loose


@kernel
def _live(
    i: int, value: int, count: int, invoke: Ints, return_: Ints, rows: Rows, table: Ints
) -> tuple[int, int, int, int]:
    """Follow a life from its first put; return f, s, how many changes it has, and where it fails."""
    t, f, s, used = int64(-1), int64(NEVER_RETURNS), int64(-1), 0
    while True:
        t = max(t, invoke[i])
        f, s = min(f, return_[i]), max(s, invoke[i])
        used += 1
        if t >= return_[i]:
            return f, s, used, i
        if value == _NOTHING:
            return f, s, used, NOBODY
        if t >= table[value, _RETURN]:
            return f, s, used, i
        t = max(t, table[value, _INVOKE])
        f, s = min(f, table[value, _RETURN]), max(s, table[value, _INVOKE])
        i = table[value, _NEXT]
        if i == NOBODY:
            return f, int64(count), used, NOBODY
        _, value = _old_and_new(rows, i)
