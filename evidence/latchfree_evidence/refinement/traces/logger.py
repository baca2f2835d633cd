"""Log the atomic accesses of real threads, in the order in which they are made.

The operations are compiled for the explorer's memory handle, so each access is a call through the *board*. The boards
here belong to the log: the call makes the access at once and writes a row.

The order of the rows must be the order of the accesses, so access and row are made under one spin lock. The lock orders
the accesses and nothing else: between two accesses the threads run freely, and now and then a thread gives up the
processor.
"""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
from numba import types

from latchfree.atomics import cas, load, peek, poke, store
from latchfree.jit import callback, kernel
from latchfree.kinds import Word
from latchfree_evidence.jitter import shake, yield_processor
from latchfree_evidence.refinement.traces.explored import Log
from latchfree_evidence.refinement.traces.mains import mains_of
from latchfree_explore.board import layout as b
from latchfree_explore.board.calling import RETURNED_NONE, RETURNED_VALUE
from latchfree_explore.board.effects import effect
from latchfree_explore.board.layout import get, put
from latchfree_explore.machine.compiling import code_of, prepared
from latchfree_explore.machine.fibers import perform
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step
from latchfree_explore.target import Target

# Words of a board that the explorer does not use.
SHARED: Final = 24  # address of what all threads share
LOG: Final = 25  # address of the log
MOST: Final = 26  # rows in it
THREAD: Final = 27
CALL: Final = 28  # the operation under way
JITTER: Final = 70  # the state of a jittered thread

# Shared words, each on a cache line of its own.
LOCK: Final = np.uint64(0)
NEXT: Final = np.uint64(8)
ARRIVED: Final = np.uint64(16)
SHARED_WORDS: Final = 24
_0: Final = np.uint64(0)
_1: Final = np.uint64(1)

ROW_WORDS: Final = 8
R_THREAD, R_KIND, R_AT, R_OLD, R_NEW, R_SITE, R_CALL, R_EXPECTED = range(8)

MOST_ROWS: Final = 1 << 16
_SELDOM: Final = 3
"""A thread yields before one access in four."""


def _log(board: Word, kind: Word, at: Word, a: Word, operand: Word, site: Word) -> Word:
    """Make an access; log an atomic one."""
    base, word = np.uint64(get(board, b.BASE)), np.uint64(at)
    if kind == b.PEEK:
        return np.int64(peek(base, word))
    if kind == b.POKE:
        poke(base, word, np.uint64(operand))
        return np.int64(0)
    if kind >= b.FENCE:
        yield_processor()
        return np.int64(0)
    shared = np.uint64(get(board, SHARED))
    shake(np.uint64(board + 8 * JITTER))
    while not cas(shared, LOCK, _0, _1):
        yield_processor()
    old = np.int64(load(base, word))
    new = effect(kind, old, a, operand)
    if new != old:
        store(base, word, np.uint64(new))
    n = np.int64(peek(shared, NEXT))
    if n < get(board, MOST):
        row = get(board, LOG) + 8 * ROW_WORDS * n
        put(row, R_THREAD, get(board, THREAD))
        put(row, R_KIND, kind)
        put(row, R_AT, at)
        put(row, R_OLD, old)
        put(row, R_NEW, new)
        put(row, R_SITE, site)
        put(row, R_CALL, get(board, CALL))
        put(row, R_EXPECTED, a)
    poke(shared, NEXT, np.uint64(n + 1))
    store(shared, LOCK, _0)
    return old


@cache
def _log_function() -> Any:
    return callback(types.int64(*[types.int64] * 6), _log)


@kernel
def work(board: Word, first: Word, end: Word, threads: Word) -> Word:
    """Run operations `first` to `end`, once so many threads have arrived; returns how many returned."""
    shared = np.uint64(get(board, SHARED))
    while not cas(shared, LOCK, _0, _1):
        yield_processor()
    poke(shared, ARRIVED, peek(shared, ARRIVED) + _1)
    store(shared, LOCK, _0)
    while np.int64(load(shared, ARRIVED)) < threads:
        yield_processor()
    for k in range(first, end):
        put(board, CALL, k)
        status = perform(board, get(board, THREAD), b.call(board, k))
        if status != RETURNED_VALUE and status != RETURNED_NONE:
            return k - first
    return end - first


class Unlogged(RuntimeError):
    """A run that cannot be used: it is too long, or an operation failed."""


def log_threads(target: Target, scenario: Scenario, seed: int) -> Log:
    """Run a scenario with real threads, whose accesses are logged in the order in which they were made.

    Returns
    -------
    Log

    Raises
    ------
    Unlogged
        If there were too many accesses, or an operation raised an exception.
    RuntimeError
        If there were so many that memory may have been freed.
    """
    calls = scenario.operations
    threads = len(scenario.threads)
    memory = prepared(target, threads + 1, scenario.keys)
    rows = np.zeros((MOST_ROWS, ROW_WORDS), np.int64)
    shared = np.zeros(SHARED_WORDS, np.int64)
    table = np.zeros((len(calls), b.CALL_WORDS), np.int64)
    for k, each in enumerate(calls):
        operation = target.operation(each.f)
        table[k, b.C_CODE], table[k, b.C_ARITY] = code_of(target, each.f), operation.arity
        table[k, b.C_ARGUMENTS : b.C_ARGUMENTS + operation.arity] = target.words(each, scenario.keys)
    boards = []
    for thread in range(threads + 1):
        board = np.zeros(b.BOARD_WORDS, np.int64)
        for at, value in (
            (b.BASE, memory.words.ctypes.data),
            (b.ROOT, memory.root),
            (b.CALLS, table.ctypes.data),
            (b.ACCESS, _log_function().address),
            (SHARED, shared.ctypes.data),
            (LOG, rows.ctypes.data),
            (MOST, MOST_ROWS),
            (THREAD, thread),
            (JITTER, 2 * (seed * (threads + 1) + thread) + 1),
            (JITTER + 1, _SELDOM),
        ):
            board[at] = value
        boards.append(board)
    before = len(scenario.before)
    _run(boards[threads], 0, before, 1)
    begin = int(shared[int(NEXT)])
    shared[int(ARRIVED)] = 0
    ends = np.cumsum([before, *map(len, scenario.threads)]).tolist()
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(_run, boards[k], ends[k], ends[k + 1], threads) for k in range(threads)]:
            done.result()
    count = int(shared[int(NEXT)])
    if count > MOST_ROWS:
        raise Unlogged(f"{count:,} accesses; at most {MOST_ROWS:,} can be recorded: {scenario}")
    results = [target.operation(each.f).result(int(table[k, b.C_RESULT])) for k, each in enumerate(calls)]
    steps = [_step(row) for row in rows[begin:count].tolist()]
    return Log(steps, results, mains_of(steps, memory.words))


def _run(board: Any, first: int, end: int, threads: int) -> None:
    if work(np.int64(board.ctypes.data), np.int64(first), np.int64(end), np.int64(threads)) != end - first:
        raise Unlogged("an operation raised an exception")


def _step(row: list[int]) -> Step:
    kind = row[R_KIND]
    return Step(
        thread=row[R_THREAD],
        kind=b.KINDS[kind],
        at=row[R_AT],
        old=row[R_OLD],
        new=row[R_NEW],
        site=ctypes.string_at(row[R_SITE]).decode() if row[R_SITE] else "",
        call=row[R_CALL],
        succeeded=kind != b.CAS or row[R_OLD] == row[R_EXPECTED],
    )
