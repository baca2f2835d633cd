"""Log the atomic accesses of real threads, in the order in which they are made.

The operations are compiled for the explorer's memory handle, so each access is a call through the *board*. The boards
here belong to the log: the call makes the access at once and writes a row.

The order of the rows must be the order of the accesses, so access and row are made under one spin lock. The lock orders
the accesses and nothing else: between two accesses the threads run freely, and now and then a thread gives up the
processor.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

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
LOG_WORDS: Final = SHARED_WORDS + MOST_ROWS * ROW_WORDS
Rows: TypeAlias = NDArray[np.int64]
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


def table_of(target: Target, scenario: Scenario) -> Rows:
    """Return what the board needs to know of each operation, for the code of this process."""
    calls = scenario.operations
    table = np.zeros((len(calls), b.CALL_WORDS), np.int64)
    for k, each in enumerate(calls):
        operation = target.operation(each.f)
        table[k, b.C_CODE], table[k, b.C_ARITY] = code_of(target, each.f), operation.arity
        table[k, b.C_ARGUMENTS : b.C_ARGUMENTS + operation.arity] = target.words(each, scenario.keys)
    return table


def board_of(thread: int, threads: int, seed: int, words: tuple[int, int], table: Rows, log: Rows) -> Rows:
    """Return the board of a thread; `words` are the address of the memory and its root, `log` is as of `new_log`."""
    board = np.zeros(b.BOARD_WORDS, np.int64)
    for at, value in (
        (b.BASE, words[0]),
        (b.ROOT, words[1]),
        (b.CALLS, table.ctypes.data),
        (b.ACCESS, _log_function().address),
        (SHARED, log.ctypes.data),
        (LOG, log.ctypes.data + 8 * SHARED_WORDS),
        (MOST, MOST_ROWS),
        (THREAD, thread),
        (JITTER, 2 * (seed * (threads + 1) + thread) + 1),
        (JITTER + 1, _SELDOM),
    ):
        board[at] = value
    return board


def new_log() -> Rows:
    """Return an empty log: the shared words, then the rows."""
    return np.zeros(LOG_WORDS, np.int64)


def rows_of(log: Rows, begin: int = 0) -> Rows:
    """Return the rows of a log, from one on."""
    end = min(int(log[int(NEXT)]), MOST_ROWS)
    return log[SHARED_WORDS:].reshape(MOST_ROWS, ROW_WORDS)[begin:end]


def log_threads(target: Target, scenario: Scenario, seed: int) -> Log:
    """Run a scenario with real threads, whose accesses are logged in the order in which they were made.

    Returns
    -------
    Log

    Raises
    ------
    Unlogged
        If there were too many accesses, or an operation raised an exception.
    TooLong
        If there were so many that memory may have been freed.
    """
    threads = len(scenario.threads)
    memory = prepared(target, threads + 1, scenario.keys)
    table, log = table_of(target, scenario), new_log()
    words = memory.words.ctypes.data, memory.root
    boards = [board_of(k, threads, seed, words, table, log) for k in range(threads + 1)]
    begin = run_before(boards[threads], scenario, log)
    run_threads(boards, scenario, range(threads))
    rows = checked_rows(log, begin, scenario)
    results = [target.operation(each.f).result(int(table[k, b.C_RESULT])) for k, each in enumerate(scenario.operations)]
    sites = {row[R_SITE]: site_at(row[R_SITE]) for row in rows}
    steps = [step_of(row, sites[row[R_SITE]]) for row in rows]
    return Log(steps, results, mains_of(steps, memory.words))


def run_before(board: Rows, scenario: Scenario, log: Rows) -> int:
    """Run the operations that come before the threads; return how many rows they have."""
    _run(board, 0, len(scenario.before), 1)
    log[int(ARRIVED)] = 0
    return int(log[int(NEXT)])


def run_threads(boards: Sequence[Rows], scenario: Scenario, mine: Sequence[int]) -> None:
    """Run some threads of a scenario; all meet first, those of other processes, too."""
    threads = len(scenario.threads)
    ends = np.cumsum([len(scenario.before), *map(len, scenario.threads)]).tolist()
    with ThreadPoolExecutor(len(mine)) as pool:
        for done in [pool.submit(_run, boards[k], ends[k], ends[k + 1], threads) for k in mine]:
            done.result()


def checked_rows(log: Rows, begin: int, scenario: Scenario) -> list[list[int]]:
    """Return the rows of the threads, unless there were too many."""
    count = int(log[int(NEXT)])
    if count > MOST_ROWS:
        raise Unlogged(f"{count:,} accesses; at most {MOST_ROWS:,} can be recorded: {scenario}")
    rows: list[list[int]] = rows_of(log, begin).tolist()
    return rows


def _run(board: Rows, first: int, end: int, threads: int) -> None:
    if work(np.int64(board.ctypes.data), np.int64(first), np.int64(end), np.int64(threads)) != end - first:
        raise Unlogged("an operation raised an exception")


def site_at(address: int) -> str:
    """Return the "file:line" at an address of this process; empty for none."""
    return ctypes.string_at(address).decode() if address else ""


def step_of(row: list[int], site: str) -> Step:
    """Return a row as a step."""
    kind = row[R_KIND]
    return Step(
        thread=row[R_THREAD],
        kind=b.KINDS[kind],
        at=row[R_AT],
        old=row[R_OLD],
        new=row[R_NEW],
        site=site,
        call=row[R_CALL],
        succeeded=kind != b.CAS or row[R_OLD] == row[R_EXPECTED],
    )
