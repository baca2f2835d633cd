"""Random: at each step any thread that can run, each as likely as the others."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.drawing import draw
from latchfree_explore.board.layout import get
from latchfree_explore.strategies.strategy import Strategy

#: Schedules of a strategy that never ends by itself, unless the caller says how many.
MANY = 100_000


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run."""
    threads = get(board, b.THREADS)
    count = 0
    for k in range(threads):
        count += runnable >> k & 1
    left = draw(board, count)
    for k in range(threads):
        if runnable >> k & 1:
            if left == 0:
                return k
            left -= 1
    return 0


@kernel
def advance(board: Word) -> Flag:
    """Return True: the generator goes on from schedule to schedule."""
    return True


RANDOM = Strategy("random", choose, advance, default_schedules=MANY)
