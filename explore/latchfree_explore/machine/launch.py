"""Start the fibers of one schedule, and come back when the schedule has ended."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import switch
from latchfree_explore.views.tables import reset


@kernel
def _lay(board: Word, k: Word) -> None:
    """Give a fiber a fresh stack."""
    f = b.fiber(board, k)
    top = get(f, b.F_TOP)
    put(top, get(board, b.ENTRY_WORD), get(board, b.ENTRY))
    put(f, b.F_STACK, top)
    put(f, b.F_READY, 1)
    put(f, b.F_LAST, 0)


@kernel
def _start(board: Word, k: Word, mode: Word) -> None:
    """Run fiber `k`, and whoever it lets run, until the schedule ends."""
    put(board, b.MODE, mode)
    put(board, b.STATUS, b.RUNNING)
    put(board, b.CURRENT, k)
    switch(np.uint64(board + 8 * b.MAIN_STACK), np.uint64(get(b.fiber(board, k), b.F_STACK)))


@kernel
def run_alone(board: Word, first: Word, end: Word) -> Word:
    """Run operations `first` to `end` one after the other, on the last fiber; return the status."""
    k = get(board, b.THREADS)
    put(b.fiber(board, k), b.F_FIRST, first)
    put(b.fiber(board, k), b.F_END, end)
    put(board, b.LEFT, get(board, b.MOST_ACCESSES))
    _lay(board, k)
    _start(board, k, b.ALONE)
    return get(board, b.STATUS)


@kernel
def run_threads(board: Word, before: Word) -> Word:
    """Run the threads together, after the operations of the mask `before`; return the status."""
    put(board, b.STEPS, 0)
    if get(board, b.WATCH):
        reset(board)
    put(board, b.RETURNED, before)
    put(board, b.LEFT, get(board, b.MOST_ACCESSES))
    for k in range(get(board, b.THREADS)):
        _lay(board, k)
    put(board, b.ARRIVED, 1)
    _start(board, 0, b.TOGETHER)
    return get(board, b.STATUS)


@kernel
def run_schedule(board: Word, before: Word, first: Word, end: Word) -> Word:
    """Run the threads together, then operations `first` to `end`; return the status."""
    status = run_threads(board, before)
    if status == b.DONE and first < end:
        status = run_alone(board, first, end)
    if status == b.DONE and get(board, b.WATCH) and get(board, b.RACED):
        status = b.RACE
        put(board, b.STATUS, status)
    return status
