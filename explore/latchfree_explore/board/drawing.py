"""Numbers drawn by random strategies: the same seed gives the same numbers."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_HIGH = np.uint64(33)


@kernel
def draw(board: Word, below: Word) -> Word:
    """Draw a number from 0 to `below` - 1 (Knuth's 64-bit congruential generator, upper bits)."""
    seed = np.uint64(get(board, b.SEED)) * _MULTIPLIER + _INCREMENT
    put(board, b.SEED, np.int64(seed))
    return np.int64(seed >> _HIGH) % below
