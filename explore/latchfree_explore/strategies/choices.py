"""Choices of a step: which message its access reads, or where it comes, in exhaustive strategies."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put


@kernel
def next_choice(board: Word, k: Word) -> Flag:
    """Take the next choice at step `k`, by the same thread; return False if there is none left.

    A thread has run at a step only when all its choices have: then it may sleep.
    """
    step = b.step(board, k)
    choice = get(step, b.S_CHOICE) + 1
    if choice >= get(step, b.S_CHOICES):
        return False
    put(step, b.S_CHOICE, choice)
    put(board, b.PREFIX, k + 1)
    return True
