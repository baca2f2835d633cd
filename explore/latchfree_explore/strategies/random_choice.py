"""Random: at each step any thread that can run, each as likely as the others."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies.strategy import Strategy

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_HIGH = np.uint64(33)

#: Schedules of a strategy that never ends by itself, unless the caller says how many.
MANY = 100_000


@kernel
def draw(board: Word, below: Word) -> Word:
    """Draw a number from 0 to `below` - 1 (Knuth's 64-bit congruential generator, upper bits)."""
    seed = np.uint64(get(board, b.SEED)) * _MULTIPLIER + _INCREMENT
    put(board, b.SEED, np.int64(seed))
    return np.int64(seed >> _HIGH) % below


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
