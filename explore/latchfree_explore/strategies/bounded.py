"""Bounded: every schedule with at most so many preemptions (switches away from a thread that could go on).

Most bugs need few (Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007). Depth first: where a schedule
may branch, S_TRIED holds the threads run there so far.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies.choices import next_choice
from latchfree_explore.strategies.directed import continued
from latchfree_explore.strategies.strategy import Strategy


@kernel
def _cost(board: Word, k: Word, thread: Word) -> Word:
    """Return 1 if running `thread` at step `k` preempts another, else 0."""
    if k == 0:
        return 0
    before = get(b.step(board, k - 1), b.S_THREAD)
    could = get(b.step(board, k), b.S_ENABLED) >> before & 1
    return 1 if could and before != thread else 0


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run."""
    k = get(board, b.STEPS)
    thread = continued(board, runnable) if k > 0 else 0
    put(b.step(board, k), b.S_TRIED, 1 << thread)
    return thread


@kernel
def settle(board: Word) -> None:
    """Count the preemptions up to the step about to be made."""
    k = get(board, b.STEPS) - 1
    used = 0
    if k > 0:
        used = get(b.step(board, k - 1), b.S_USED)
    mine = b.step(board, k)
    put(mine, b.S_USED, used + _cost(board, k, get(mine, b.S_THREAD)))


@kernel
def advance(board: Word) -> Flag:
    """Branch at the last step where another thread is left to try; return False if there is none."""
    for k in range(get(board, b.STEPS) - 1, -1, -1):
        if next_choice(board, k):
            return True
        mine = b.step(board, k)
        used = 0
        if k > 0:
            used = get(b.step(board, k - 1), b.S_USED)
        left = get(mine, b.S_ENABLED) & ~get(mine, b.S_TRIED)
        for thread in range(get(board, b.THREADS)):
            if left >> thread & 1 and used + _cost(board, k, thread) <= get(board, b.BOUND):
                put(mine, b.S_TRIED, get(mine, b.S_TRIED) | 1 << thread)
                put(mine, b.S_THREAD, thread)
                put(mine, b.S_CHOICE, 0)
                put(board, b.PREFIX, k + 1)
                return True
    return False


BOUNDED = Strategy(
    "bounded",
    choose,
    advance,
    settle,
    exhaustive=True,
    claim="linearizable in every interleaving with at most {bound} preemptions",
)
