"""What a load may read, and where a store may come: how many choices there are, and which is taken.

Example: words x and y hold 0. Thread 0 stores 1 to x, then 1 to y. Thread 1 loads y and may read 1 or 0. If it acquires
the 1, it knows the store to x, too, and its next load of x has one choice: 1.

The messages of a word are in one order, the *modification order*. A thread reads no message that is older than one
that it knows of: one that some thread saw at a time that is in its clock. A sequentially consistent access reads none
that is older than the last sequentially consistent write. Choice 0 is the newest, so that a schedule without choices
is sequentially consistent.

A store may come, in the modification order, before messages that its thread does not know of, but never between an
update and what the update read.

So the machine runs all that rc11 allows of accesses that are not weakened, and a little more: a fence and a
sequentially consistent access of another word do not see each other here. Axioms judge the schedules that fail.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.drawing import draw
from latchfree_explore.board.layout import get, put
from latchfree_explore.views.tables import (
    INITIAL,
    M_BEFORE,
    M_IS_UPDATE,
    M_SEEN,
    M_SORT,
    M_UPDATED,
    M_VALUE,
    PAUSED,
    R_NEWEST,
    SEQ,
    clock,
    message,
)


@kernel
def _known(board: Word, m: Word) -> Flag:
    """Return whether the running thread knows a message: some thread has seen it, at a time in its clock."""
    mine = clock(board, get(board, b.CURRENT))
    for u in range(get(board, b.THREADS)):
        seen = get(m, M_SEEN + u)
        if seen != 0 and seen <= get(mine, u):
            return True
    return False


@kernel
def readable(board: Word, m: Word, newest: Flag, kind: Word, expected: Word) -> Flag:
    """Return whether an access that may read nothing older than message `m` may read `m` itself."""
    if kind >= b.CAS and (kind != b.CAS or get(m, M_VALUE) == expected):
        # An update comes next to what it reads, and two cannot.
        return get(m, M_UPDATED) == 0 and (newest or get(board, b.WATCH) == b.WEAK)
    me = get(board, b.CURRENT)
    seen = get(m, M_SEEN + me)
    return newest or seen == 0 or seen > get(clock(board, PAUSED), me)


@kernel
def is_floor(board: Word, m: Word, seq: Flag) -> Flag:
    """Return whether nothing older than message `m` may be read."""
    sort = get(m, M_SORT)
    return sort == INITIAL or (seq and sort == SEQ) or _known(board, m)


@kernel
def _choice(board: Word, choices: Word) -> Word:
    """Return which of so many choices is taken at the running step, and note that."""
    step = b.step(board, get(board, b.STEPS) - 1)
    choice = 0
    if choices > 1 and get(board, b.WATCH) == b.WEAK:
        choice = draw(board, choices) if get(board, b.DRAWN) else get(step, b.S_CHOICE)
        if choice >= choices:
            choice = 0  # a schedule that was made for other code
        put(step, b.S_CHOICES, choices)
    put(step, b.S_CHOICE, choice)
    return choice


@kernel
def read_from(board: Word, row: Word, kind: Word, expected: Word, seq: Flag) -> Word:
    """Choose the message that an access reads; return its number."""
    newest = get(row, R_NEWEST)
    choices = 0
    k = newest
    while get(board, b.WATCH) == b.WEAK:
        m = message(board, k)
        if readable(board, m, k == newest, kind, expected):
            choices += 1
        if is_floor(board, m, seq):
            break
        k = get(m, M_BEFORE)
    choice = _choice(board, choices)
    if choice > 0:
        put(board, b.STALE, get(board, b.STALE) + 1)
    k = newest
    while choices > 0:
        if readable(board, message(board, k), k == newest, kind, expected):
            if choice == 0:
                break
            choice -= 1
        k = get(message(board, k), M_BEFORE)
    return k


@kernel
def place_after(board: Word, row: Word) -> Word:
    """Choose where a store comes in the modification order; return the number of the message before it."""
    newest = get(row, R_NEWEST)
    if get(board, b.WATCH) != b.WEAK:
        return newest
    choices = 1
    k = newest
    while not is_floor(board, message(board, k), False):
        if get(message(board, k), M_IS_UPDATE) == 0:
            choices += 1
        k = get(message(board, k), M_BEFORE)
    choice = _choice(board, choices)
    k = newest
    while choice > 0:
        if get(message(board, k), M_IS_UPDATE) == 0:
            choice -= 1
        k = get(message(board, k), M_BEFORE)
    return k
