"""What monitors share: verdicts, and a table from values to operations that is emptied part by part."""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.opcodes import ABSENT, CLEAR, SIZE, SNAPSHOT, TAKE, UNKNOWN_RESULT
from latchfree_lincheck.engine.timeline import Ints, int64
from latchfree_lincheck.engine.transition import Rows

UNDECIDED: Final = -1
OK: Final = 0
VIOLATION: Final = 1

NOBODY: Final = -1
NEVER: Final = 1 << 62
"""After every event; also the rank of a return that never came."""


@kernel
def items_of(
    low: int, high: int, invoke: Ints, return_: Ints, rows: Rows, puts: int, items: Ints
) -> tuple[int, int, bool]:
    """Find who put and who took each item of a queue, a stack or a priority queue.

    Parameters
    ----------
    puts : int
        The opcode that puts an item in.
    items : int64[values, 2]
        Receives the operations that put and took each item; NOBODY before.

    Returns
    -------
    verdict, suspect, loose
        UNDECIDED if items are not distinct or a take that returned has no known result; VIOLATION if an item was
        taken twice, never put, or before it was put. `loose` says that pending takes are left out.
    """
    loose = False
    for i in range(low, high):
        if rows[i, 0] == puts:
            value = rows[i, 2]
            if value < 0 or items[value, 0] != NOBODY:
                return UNDECIDED, NOBODY, loose
            items[value, 0] = i
        elif rows[i, 0] != TAKE:
            return UNDECIDED, NOBODY, loose
        elif return_[i] == NEVER:
            loose = True
        elif rows[i, 4] == UNKNOWN_RESULT:
            return UNDECIDED, NOBODY, loose
    for i in range(low, high):
        if rows[i, 0] != TAKE or return_[i] == NEVER or rows[i, 4] == ABSENT:
            continue
        value = rows[i, 4]
        if value < 0 or items[value, 0] == NOBODY or items[value, 1] != NOBODY or return_[i] < invoke[items[value, 0]]:
            return VIOLATION, i, loose
        items[value, 1] = i
    return OK, NOBODY, loose


@kernel
def count_values(rows: Rows) -> int:
    """Return a number above all values in rows."""
    most = int64(0)
    for i in range(len(rows)):
        if rows[i, 0] not in (SNAPSHOT, SIZE, CLEAR):
            most = max(most, rows[i, 2], rows[i, 3], rows[i, 4])
    return int(most + 1)
