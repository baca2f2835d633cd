"""The effects of accesses on the memory under test, and the log that undoes them.

Only one fiber runs at any time, so an atomic access is a read, a computation and a write. The log keeps the old value
of each word that is written. After a schedule the log is undone backwards; the time depends on how many words were
written, not on the size of the memory.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import switch


@kernel
def leave(board: Word, status: Word) -> None:
    """End the schedule: go back to the main stack, for good."""
    put(board, b.STATUS, status)
    me = b.fiber(board, get(board, b.CURRENT))
    switch(np.uint64(me + 8 * b.F_STACK), np.uint64(get(board, b.MAIN_STACK)))


@kernel
def _refuse(board: Word, left: Word) -> None:
    leave(board, b.ENDLESS if left < 0 else b.ASTRAY)


@kernel
def admit(board: Word, at: Word) -> None:
    """Let an access to word `at` pass, or end the schedule."""
    left = get(board, b.LEFT) - 1
    put(board, b.LEFT, left)
    if left < 0 or at < 0 or at >= get(board, b.WORDS):
        _refuse(board, left)


@kernel
def write(board: Word, at: Word, old: Word, new: Word) -> None:
    """Write a word and log what it held."""
    n = get(board, b.UNDONE)
    if n == get(board, b.MOST_UNDO):
        leave(board, b.OVERFULL)
    log = get(board, b.UNDO) + 16 * n
    put(log, 0, at)
    put(log, 1, old)
    put(board, b.UNDONE, n + 1)
    put(get(board, b.BASE), at, new)


@kernel
def undo(board: Word) -> None:
    """Undo all writes."""
    base = get(board, b.BASE)
    log = get(board, b.UNDO)
    for k in range(get(board, b.UNDONE) - 1, -1, -1):
        put(base, get(log + 16 * k, 0), get(log + 16 * k, 1))
    put(board, b.UNDONE, 0)


@kernel
def effect(kind: Word, old: Word, a: Word, operand: Word) -> Word:
    """Return the value after an access of a word that holds `old`; a compare-and-swap expects `a`."""
    if kind == b.STORE or kind == b.EXCHANGE or kind == b.POKE:
        return operand
    if kind == b.CAS:
        return operand if old == a else old
    if kind == b.FETCH_ADD:
        return old + operand
    if kind == b.FETCH_OR:
        return old | operand
    if kind == b.FETCH_AND:
        return old & operand
    if kind == b.FETCH_MAX:
        return old if np.uint64(old) >= np.uint64(operand) else operand
    if kind == b.FETCH_MIN:
        return old if np.uint64(old) <= np.uint64(operand) else operand
    return old
