"""A strategy of the explorer that makes one move and stops.

Example: thread 1 is about to begin `put`. It pins its participant, which is a word of its own, loads the root, and
makes a node of its own; next it would swap the root's main. One move takes it as far as there: past one access to a
word that other threads use, and past everything private around it.

A *move* is one access to a contended word, or one pause, with the private accesses before and after it. It ends earlier
where the operation returns, so operations begin as late and return as early as their accesses allow: no real-time order
is tighter, and so no violation is lost.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.atomics import read_byte
from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies.strategy import Strategy

#: Words that another strategy keeps its changes in, and that this one has for itself: the address of the marks (a byte
#: a word of memory: whether it is contended), the operation that the move is of, and whether its access was made.
MARKS: Final = b.CHANGES
_CALL: Final = b.CHANGES + 1
_PASSED: Final = b.CHANGES + 2


@kernel
def _is_point(board: Word, thread: Word) -> Flag:
    """Return whether the next access of a thread is one that a move is made of."""
    f = b.fiber(board, thread)
    if get(f, b.F_KIND) == b.PAUSE:
        return True
    at = get(f, b.F_AT)
    return at != b.NOWHERE and read_byte(np.uint64(get(board, MARKS) + at)) != 0


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread of the move, or -1 where the move ends."""
    thread = get(board, b.BOUND)
    if thread < 0 or not runnable >> thread & 1:
        return -1
    call = get(b.fiber(board, thread), b.F_CALL)
    if get(board, b.STEPS) == get(board, b.PREFIX):
        put(board, _CALL, call)
        put(board, _PASSED, 0)
    if call != get(board, _CALL):
        return -1
    if _is_point(board, thread):
        if get(board, _PASSED):
            return -1
        put(board, _PASSED, 1)
    return thread


@kernel
def advance(board: Word) -> Flag:
    """Return False: there is one schedule only."""
    return False


#: Its number is the thread that moves, -1 to stop where the given steps end.
MOVE = Strategy("move", choose, advance, default_bound=-1, needs_script=True)
