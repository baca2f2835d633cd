"""The tables of one schedule: a row for each word touched, a message for each write, a clock for each thread.

Example: thread 0 stores 1 to a word that held 0, then thread 1 loads the word. The row of the word leads to the message
with value 1 and from there to the *initial* message with value 0; thread 1 may read either.

A *time* is a count of a thread's own accesses, from 1 on. A *clock* holds, for each thread, the time up to which its
accesses are known. Tables are reset by walking the rows in use: a schedule costs what it touches, not what there is.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put

_T: Final = b.MOST_THREADS

# A row: for each thread the time of its last access of each sort, the word, and the newest message.
PLAIN_WRITES: Final = 0
PLAIN_READS: Final = _T
ATOMIC_WRITES: Final = 2 * _T
ATOMIC_READS: Final = 3 * _T
R_WORD: Final = 4 * _T
R_NEWEST: Final = 4 * _T + 1
ROW_WORDS: Final = 4 * _T + 2

# A message: what was written; the one before it; its sort; whether an update made it, and whether one has read it;
# the thread that made it, and after how many steps; what a thread that acquires it comes to know; for each thread the
# time at which it first saw it.
M_VALUE: Final = 0
M_BEFORE: Final = 1
M_SORT: Final = 2
M_IS_UPDATE: Final = 3
M_UPDATED: Final = 4
M_THREAD: Final = 5
M_STEPS: Final = 6
M_VIEW: Final = 8
M_SEEN: Final = 8 + _T
MESSAGE_WORDS: Final = 8 + 2 * _T

# Sorts of messages.
WRITTEN: Final = 0
SEQ: Final = 1  # written by a sequentially consistent access
INITIAL: Final = 2
PLAIN: Final = 3  # written by a poke

# Clocks: one for each thread, then these.
CLIENT: Final = _T  # what whoever starts the next operation knows
FENCES: Final = _T + 1  # what was known at some fence
PAUSED: Final = _T + 2  # the time of each thread's last pause
RELEASED: Final = _T + 3  # for each thread what it knew at its last fence
HELD: Final = 2 * _T + 3  # for each thread what came with messages that it has read without acquiring them
CLOCKS: Final = 3 * _T + 3


@kernel
def clock(board: Word, k: Word) -> Word:
    """Return the address of a thread's clock, or of another."""
    return get(board, b.CLOCKS) + 8 * _T * k


@kernel
def message(board: Word, k: Word) -> Word:
    """Return the address of message `k`; they count from 1."""
    return get(board, b.MESSAGES) + 8 * MESSAGE_WORDS * k


@kernel
def _row(board: Word, k: Word) -> Word:
    return get(board, b.ROWS) + 8 * ROW_WORDS * k


@kernel
def _clear(address: Word, words: Word) -> None:
    for k in range(words):
        put(address, k, 0)


@kernel
def reset(board: Word) -> None:
    """Forget the last schedule."""
    index = get(board, b.ROW_OF)
    for k in range(1, get(board, b.ROWS_USED) + 1):
        put(index, get(_row(board, k), R_WORD), 0)
    put(board, b.ROWS_USED, 0)
    put(board, b.MESSAGES_USED, 0)
    put(board, b.RACED, 0)
    _clear(get(board, b.CLOCKS), _T * CLOCKS)


@kernel
def row_of(board: Word, at: Word) -> Word:
    """Return the address of the row of word `at`, a new one if the word is touched for the first time."""
    index = get(board, b.ROW_OF)
    k = get(index, at)
    if k == 0:
        k = get(board, b.ROWS_USED) + 1
        if k >= get(board, b.MOST_ROWS):
            leave(board, b.OVERFULL)
        put(board, b.ROWS_USED, k)
        put(index, at, k)
        _clear(_row(board, k), ROW_WORDS)
        put(_row(board, k), R_WORD, at)
    return _row(board, k)


@kernel
def add_message(board: Word, row: Word, after: Word, value: Word, sort: Word) -> Word:
    """Add a message to a row next to message `after`; return its address."""
    k = get(board, b.MESSAGES_USED) + 1
    if k >= get(board, b.MOST_MESSAGES):
        leave(board, b.OVERFULL)
    put(board, b.MESSAGES_USED, k)
    m = message(board, k)
    _clear(m, MESSAGE_WORDS)
    put(m, M_VALUE, value)
    put(m, M_BEFORE, after)
    put(m, M_SORT, sort)
    put(m, M_THREAD, get(board, b.CURRENT))
    put(m, M_STEPS, get(board, b.STEPS))
    newest = get(row, R_NEWEST)
    if newest == after:
        put(row, R_NEWEST, k)
    else:
        while get(message(board, newest), M_BEFORE) != after:
            newest = get(message(board, newest), M_BEFORE)
        put(message(board, newest), M_BEFORE, k)
    return m


@kernel
def number(board: Word, k: Word) -> Word:
    """Return by which number a step names message `k`: 0 for an initial one."""
    return 0 if k == 0 or get(message(board, k), M_SORT) == INITIAL else k
