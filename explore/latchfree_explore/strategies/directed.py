"""Directed: along a given schedule; where it ends, threads go on one after the other, without preemption."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get
from latchfree_explore.strategies.strategy import Strategy


@kernel
def continued(board: Word, runnable: Word) -> Word:
    """Return the thread that runs already, or else the first that can."""
    current = get(board, b.CURRENT)
    if runnable >> current & 1:
        return current
    k = 0
    while not runnable >> k & 1:
        k += 1
    return k


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the preferred thread, as long as it can run."""
    preferred = get(board, b.BOUND)
    if preferred >= 0 and runnable >> preferred & 1:
        return preferred
    return continued(board, runnable)


@kernel
def advance(board: Word) -> Flag:
    """Return False: there is one schedule only."""
    return False


#: Its number is the thread that goes on where the schedule ends, or -1 for the one that runs already.
DIRECTED = Strategy("directed", choose, advance, default_bound=-1, needs_script=True)
