"""Probabilistic concurrency testing: random priorities; at a few random steps the running thread gets the lowest.

A bug that needs d ordering constraints among k steps of n threads shows with probability at least 1 / (n k^(d-1))
in each schedule (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010). The strategy's number is d.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.drawing import draw
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies.random_choice import MANY
from latchfree_explore.strategies.strategy import Strategy

#: The most depth: the board has room for the steps at which priorities change.
MOST_DEPTH = 16

#: Steps that the first schedule is taken to have.
_GUESS = 64


@kernel
def begin(board: Word) -> None:
    """Draw priorities, and the steps at which they change."""
    threads = get(board, b.THREADS)
    depth = get(board, b.BOUND)
    for k in range(threads):
        put(b.fiber(board, k), b.F_PRIORITY, depth + k)
    for k in range(threads - 1, 0, -1):
        other = draw(board, k + 1)
        mine, its = b.fiber(board, k), b.fiber(board, other)
        kept = get(mine, b.F_PRIORITY)
        put(mine, b.F_PRIORITY, get(its, b.F_PRIORITY))
        put(its, b.F_PRIORITY, kept)
    longest = get(board, b.LONGEST)
    for k in range(depth - 1):
        put(board, b.CHANGES + k, draw(board, longest if longest > 0 else _GUESS))


@kernel
def _highest(board: Word, runnable: Word) -> Word:
    best = -1
    for k in range(get(board, b.THREADS)):
        if runnable >> k & 1 and (
            best < 0 or get(b.fiber(board, k), b.F_PRIORITY) > get(b.fiber(board, best), b.F_PRIORITY)
        ):
            best = k
    return best


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run."""
    now = get(board, b.STEPS)
    if now == 0:
        begin(board)
    best = _highest(board, runnable)
    for k in range(get(board, b.BOUND) - 1):
        if get(board, b.CHANGES + k) == now:
            put(b.fiber(board, best), b.F_PRIORITY, k)
            best = _highest(board, runnable)
    return best


@kernel
def advance(board: Word) -> Flag:
    """Return True: the generator goes on from schedule to schedule."""
    return True


PCT = Strategy("pct", choose, advance, default_bound=3, least_bound=1, most_bound=MOST_DEPTH, default_schedules=MANY)
