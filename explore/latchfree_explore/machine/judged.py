"""Run schedule after schedule where memory is weak: one that fails, and that the memory model forbids, stops nothing.

Example: threads sleep for ever in one schedule of five, and each time because a fence and an access of another word did
not see each other. The axioms forbid these schedules; they are counted, and the next one runs.

Invariant: a schedule is passed over only if the axioms forbid its graph. What they allow, or what is not judged here,
ends the drive as in `latchfree_explore.machine.loop`.
"""

from __future__ import annotations

from typing import Any

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.judging.remembering import FORBIDDEN, answer, is_refused
from latchfree_explore.machine.loop import LIMIT, NEW, TROUBLE, drive


@kernel
def drive_allowed(
    board: Word, seen: Any, count: Any, tables: Any, before: Word, first: Word, end: Word, limit: Word
) -> Word:
    """Run up to `limit` schedules, as long as there is nothing new that is allowed; return why it stopped."""
    left = limit
    while left > 0:
        ran = get(board, b.SCHEDULES) + get(board, b.SLEPT)
        why = drive(board, seen, count, before, first, end, left)
        if why == NEW:
            if not is_refused(board, tables, end):
                return why
        elif why != TROUBLE or get(board, b.STATUS) == b.STUCK or answer(board, tables) != FORBIDDEN:
            return why
        put(board, b.FORBIDDEN, get(board, b.FORBIDDEN) + 1)
        left -= get(board, b.SCHEDULES) + get(board, b.SLEPT) - ran
    return LIMIT
