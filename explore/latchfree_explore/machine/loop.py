"""Run schedule after schedule: start the fibers, look the outcome up, undo the writes, prepare the next schedule."""

from __future__ import annotations

from typing import Any

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import undo
from latchfree_explore.board.layout import get, put
from latchfree_explore.machine.counting import add
from latchfree_explore.machine.launch import run_schedule
from latchfree_explore.machine.obstruction import all_finish
from latchfree_explore.machine.outcomes import is_known
from latchfree_explore.strategies.dispatch import advance

# Why `drive` returned.
LIMIT = 0  # it has run as many schedules as it should
COMPLETE = 1  # the strategy has no further schedule
NEW = 2  # the last schedule's outcome has to be judged
TROUBLE = 3  # the last schedule did not end as it should: see STATUS


@kernel
def drive(board: Word, seen: Any, count: Any, before: Word, first: Word, end: Word, limit: Word) -> Word:
    """Run up to `limit` schedules, as long as there is nothing new; return why it stopped."""
    for _ in range(limit):
        if get(board, b.STARTED):
            if get(board, b.SOLO_STEPS) and not all_finish(board, before):
                return TROUBLE
            if not advance(board):
                return COMPLETE
        put(board, b.STARTED, 1)
        status = run_schedule(board, before, first, end)
        undo(board)
        steps = get(board, b.STEPS)
        put(board, b.ALL_STEPS, get(board, b.ALL_STEPS) + steps)
        if steps > get(board, b.LONGEST):
            put(board, b.LONGEST, steps)
        if status == b.SLEEPING:
            put(board, b.SLEPT, get(board, b.SLEPT) + 1)
            continue
        put(board, b.SCHEDULES, get(board, b.SCHEDULES) + 1)
        if status != b.DONE:
            return TROUBLE
        if get(board, b.COUNTED) and get(board, b.WATCH) != b.WEAK:
            add(board, count)
        if not is_known(board, seen):
            return NEW
    return LIMIT
