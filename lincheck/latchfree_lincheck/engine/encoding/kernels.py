"""The compiled code of the encoding: numbers for codes and parts, rows filled, events dealt out to parts."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import (
    ABSENT,
    ENQUEUE,
    IMPOSSIBLE,
    REMOVE_IF,
    REPLACE_IF,
    UNKNOWN_RESULT,
)
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.history.codes import NONE
from latchfree_lincheck.history.timeline import Ints


@kernel
def number_codes(codes: Ints, table: Ints, numbers: Ints) -> int:
    """Give codes numbers by first appearance; `table` is the number of each code, or -1. Return how many there are."""
    count = 0
    for i in range(len(codes)):
        if table[codes[i]] < 0:
            table[codes[i]] = count
            count += 1
        numbers[i] = table[codes[i]]
    return count


@kernel
def number_parts(bounds: Ints, place: Ints, table: Ints, part: Ints, owner: Ints) -> int:
    """Give the places of each history numbers; `table` is the latest part at each place."""
    count = 0
    for history in range(len(bounds) - 1):
        base = count
        for row in range(bounds[history], bounds[history + 1]):
            if table[place[row]] < base:
                table[place[row]] = count
                owner[count] = history
                count += 1
            part[row] = table[place[row]]
    return count


@kernel
def fill(
    rows: Rows,
    f: Ints,
    codes: Ints,
    kinds: Ints,
    a: Ints,
    b: Ints,
    results: Ints,
    truths: Ints,
    capacity: int,
    is_map: bool,
) -> None:
    """Write the rows. NONE is ABSENT and MISSING, of a result, UNKNOWN_RESULT."""
    for i in range(len(f)):
        code, kind = codes[f[i]], kinds[f[i]]
        rows[i, 0] = code
        rows[i, 1] = 0
        rows[i, 2] = max(a[i], ABSENT)
        rows[i, 3] = capacity if code == ENQUEUE else max(b[i], ABSENT)
        if is_map and code in (REPLACE_IF, REMOVE_IF) and a[i] == NONE:
            rows[i, 2] = IMPOSSIBLE
        if kind == 3:
            rows[i, 4] = 1
        elif kind == 2:
            rows[i, 4] = truths[i]
        elif kind == 0 or (kind == 4 and results[i] == NONE):
            rows[i, 4] = UNKNOWN_RESULT
        else:
            rows[i, 4] = results[i]


@kernel
def group(
    events: Ints,
    part: Ints,
    rows: Rows,
    bounds: Ints,
    event_bounds: Ints,
    index: Ints,
    first: Ints,
    last: Ints,
    mine: Ints,
    grouped: Rows,
) -> None:
    """Deal the events out to the parts, in order."""
    parts = len(bounds) - 1
    for event in events:
        p = part[event >> 1]
        event_bounds[p + 1] += 1
        if event & 1 == 0:
            bounds[p + 1] += 1
    for p in range(parts):
        bounds[p + 1] += bounds[p]
        event_bounds[p + 1] += event_bounds[p]
    next_operation, next_event = bounds[:-1].copy(), event_bounds[:-1].copy()
    place = np.empty(len(index), np.int64)
    for event in events:
        operation = event >> 1
        p = part[operation]
        at = next_event[p]
        next_event[p] = at + 1
        rank = at - event_bounds[p]
        if event & 1 == 0:
            to = next_operation[p]
            next_operation[p] = to + 1
            place[operation] = to
            index[to] = operation
            first[to] = rank
            for column in range(5):
                grouped[to, column] = rows[operation, column]
            mine[at] = 2 * to
        else:
            to = place[operation]
            last[to] = rank
            mine[at] = 2 * to + 1
