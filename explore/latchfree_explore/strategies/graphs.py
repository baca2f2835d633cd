"""Graphs: along an execution graph, then the first thread that can, to its end; who pauses, waits for good.

The graphs are made by `latchfree_explore.graphs`, in Python; here is only what a fiber asks.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get
from latchfree_explore.strategies.strategy import Strategy

#: In place of the number of a thread that goes on alone: all threads go on, up to their pauses or beyond.
UP_TO_PAUSES: Final = -1
BEYOND_PAUSES: Final = -2


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run, -1 if all that could go on have paused."""
    alone = get(board, b.BOUND)
    for k in range(get(board, b.THREADS)):
        if runnable >> k & 1:
            waits = get(b.fiber(board, k), b.F_KIND) == b.PAUSE
            if k == alone or alone == BEYOND_PAUSES or (alone == UP_TO_PAUSES and not waits):
                return k
    return -1


@kernel
def advance(board: Word) -> Flag:
    """Return False: which graph comes next is decided elsewhere."""
    return False


GRAPHS = Strategy(
    "graphs",
    choose,
    advance,
    default_bound=UP_TO_PAUSES,
    least_bound=UP_TO_PAUSES,
    most_bound=UP_TO_PAUSES,
    exhaustive=True,
    complete=True,
    by_graphs=True,
    claim="linearizable in every execution graph that {memory} allows",
)
