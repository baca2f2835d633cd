"""Call the strategy of a board through the addresses that the board holds.

The scheduler names no strategy. Each is compiled by itself, when a search uses it for the first time.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from numba import types

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.calling import address_of, call1, call2
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies import solo
from latchfree_explore.strategies.strategy import Strategy


class Addresses(NamedTuple):
    """Where the compiled kernels of a strategy are; 0 if there is no `settle`."""

    choose: int
    settle: int
    advance: int


@cache
def addresses(strategy: Strategy) -> Addresses:
    """Compile the kernels of a strategy and return their addresses."""
    word = types.int64
    return Addresses(
        choose=address_of(strategy.choose, word, word),
        settle=address_of(strategy.settle, word) if strategy.settle is not None else 0,
        advance=address_of(strategy.advance, word),
    )


@cache
def solo_choose() -> int:
    """Compile the function that chooses where a thread is alone, and return its address."""
    return address_of(solo.choose, types.int64, types.int64)


def install(board: Any, strategy: Strategy) -> None:
    """Make a strategy that of a board, an array of words."""
    board[b.CHOOSE], board[b.SETTLE], board[b.ADVANCE] = addresses(strategy)
    board[b.EXHAUSTIVE], board[b.COUNTED] = strategy.exhaustive, strategy.complete
    board[b.DRAWN] = not strategy.exhaustive and not strategy.needs_script


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run at a step that is not given, -1 for none."""
    call2(get(board, b.CHOOSE), board + 8 * b.ANSWER, board, runnable)
    return get(board, b.ANSWER)


@kernel
def settle(board: Word) -> None:
    """Account for the step made last."""
    if get(board, b.SETTLE) != 0:
        call1(get(board, b.SETTLE), board + 8 * b.ANSWER, board)


@kernel
def advance(board: Word) -> Flag:
    """Prepare the next schedule; return whether there is one."""
    put(board, b.ANSWER, 0)
    call1(get(board, b.ADVANCE), board + 8 * b.ANSWER, board)
    return get(board, b.ANSWER) != 0
