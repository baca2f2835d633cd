"""Solo: from where the given steps end, one thread goes on alone until the operation it is in has returned."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread that is alone; end the schedule when its operation has returned, or it cannot go on."""
    thread = get(board, b.LONER)
    if get(board, b.STEPS) == get(board, b.PREFIX):
        put(board, b.LONER_CALL, get(b.fiber(board, thread), b.F_CALL))
    if get(board, b.RETURNED) >> get(board, b.LONER_CALL) & 1:
        leave(board, b.DONE)
    if not runnable >> thread & 1:
        leave(board, b.STUCK)
    return thread
