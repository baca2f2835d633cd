"""Shared by the monitors: verdicts, and a table from values to operations that is emptied part by part."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree.sorting import sort
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, CLEAR, SIZE, SNAPSHOT, TAKE, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

UNDECIDED: Final = -1
OK: Final = 0
VIOLATION: Final = 1

NOBODY: Final = -1


@kernel
def items_of(
    low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, puts: int, items: Ints, lost: Ints
) -> tuple[int, int, int]:
    """Find who put and who took each item of a queue, a stack or a priority queue.

    Parameters
    ----------
    low, high : int
        The operations of the part: from `low` up to, but not including, `high`.
    invoke, return_ : int64[n]
        When each operation was called, and when it returned.
    rows : Rows
        The operations as rows of integers.
    puts : int
        The opcode that puts an item in.
    items : int64[values, 2]
        Receives the operations that put and took each item; NOBODY before.
    lost : int64[...]
        Receives the takes that never returned, in order of invocation.

    Returns
    -------
    verdict, suspect, count
        UNDECIDED if items are not distinct or a take that returned has no known result; VIOLATION if an item was
        taken twice, never put, or before it was put. `count` is how many takes are `lost`.
    """
    count = 0
    for i in range(low, high):
        if rows[i, 0] == puts:
            value = rows[i, 2]
            if value < 0 or items[value, 0] != NOBODY:
                return UNDECIDED, NOBODY, 0
            items[value, 0] = i
        elif rows[i, 0] != TAKE:
            return UNDECIDED, NOBODY, 0
        elif return_[i] == NEVER_RETURNS:
            lost[count] = i
            count += 1
        elif rows[i, 4] == UNKNOWN_RESULT:
            return UNDECIDED, NOBODY, 0
    for i in range(low, high):
        if rows[i, 0] != TAKE or return_[i] == NEVER_RETURNS or rows[i, 4] == ABSENT:
            continue
        value = rows[i, 4]
        if value < 0 or items[value, 0] == NOBODY or items[value, 1] != NOBODY or return_[i] < invoke[items[value, 0]]:
            return VIOLATION, i, count
        items[value, 1] = i
    return OK, NOBODY, count


@kernel
def items_left(events: Ints, rows: Rows, puts: int, items: Ints) -> Ints:
    """Return the puts that returned and whose item no known take got, in order of return."""
    left = np.empty(len(events), np.int64)
    count = 0
    for event in events:
        i = event >> 1
        if event & 1 == 1 and rows[i, 0] == puts and items[rows[i, 2], 1] == NOBODY:
            left[count] = i
            count += 1
    return left[:count].copy()


@kernel
def by_deadline(events: Ints, invoke: Ints, lost: Ints, left: Ints, deadlines: Ints) -> tuple[int, Ints]:
    """Put the items left in order of their deadlines; items with equal deadlines keep their order.

    Returns an operation before whose event there are more deadlines than pending takes, or NOBODY; and the items.
    """
    many = int64(len(events) + 1)
    keys = np.empty(len(left), np.int64)
    for place in range(len(left)):
        keys[place] = min(deadlines[left[place]], many) * many + place
    sort(keys, 0, len(keys))
    order = np.empty_like(left)
    for place in range(len(order)):
        order[place] = left[keys[place] % many]
    for place in range(len(order)):
        deadline = deadlines[order[place]]
        if deadline < many and (place >= len(lost) or invoke[lost[place]] >= deadline):
            return int(events[min(deadline, many - 2)] >> 1), order
    return NOBODY, order


@kernel
def count_values(rows: Rows) -> int:
    """Return a number above all values in rows."""
    most = int64(0)
    for i in range(len(rows)):
        if rows[i, 0] not in (SNAPSHOT, SIZE, CLEAR):
            most = max(most, rows[i, 2], rows[i, 3], rows[i, 4])
    return int(most + 1)
