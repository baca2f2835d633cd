"""Answers that are given: what a load reads, and where a store comes, when an execution graph has it.

Example: a graph says that a load reads the initial value, and so says its step. The load reads that, whether or not it
is a choice of the load's. Beyond the steps that are given the newest message is read, and a store comes last.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put
from latchfree_explore.views.choosing import is_floor, readable
from latchfree_explore.views.tables import INITIAL, M_BEFORE, M_IS_UPDATE, M_SORT, M_STEPS, PLAIN, R_NEWEST, message


@kernel
def _given(board: Word, row: Word) -> Word:
    """Return the message that is given for the running step; the newest where no step is given.

    A message is given as 0 if it is the initial one, else as twice the number of the steps up to the one that made it,
    and one more if that thread's poke after the step made it. Among choices it stands as -1 minus that number.
    """
    now = get(board, b.STEPS) - 1
    k = get(row, R_NEWEST)
    if now >= get(board, b.PREFIX):
        return k
    given = get(b.step(board, now), b.S_CHOICE)
    given = given if given >= 0 else -1 - given
    while True:
        m = message(board, k)
        sort = get(m, M_SORT)
        if given == 0 and sort == INITIAL:
            break
        if sort != INITIAL and get(m, M_STEPS) == given >> 1 and (sort == PLAIN) == (given & 1 == 1):
            break
        k = get(m, M_BEFORE)
        if k == 0:
            leave(board, b.DIVERGED)
    return k


@kernel
def is_given(board: Word) -> Flag:
    """Return whether it is given what the running step reads, or where it comes."""
    now = get(board, b.STEPS) - 1
    if get(board, b.GUIDED):
        return True
    return get(board, b.WATCH) == b.WEAK and now < get(board, b.PREFIX) and get(b.step(board, now), b.S_CHOICE) < 0


@kernel
def _translated(board: Word, choice: Word) -> None:
    """Note which choice the given message is; if there is no such choice, that it is given."""
    if get(board, b.GUIDED) == b.TRANSLATED:
        step = b.step(board, get(board, b.STEPS) - 1)
        put(step, b.S_CHOICE, choice if choice >= 0 else -1 - get(step, b.S_CHOICE))


@kernel
def given_to_read(board: Word, row: Word, kind: Word, expected: Word, seq: Flag) -> Word:
    """Return the message that an access is given to read."""
    given, newest = _given(board, row), get(row, R_NEWEST)
    choice = 0
    k = newest
    while k != given:
        m = message(board, k)
        if readable(board, m, k == newest, kind, expected):
            choice += 1
        if is_floor(board, m, seq):
            choice = -1
            break
        k = get(m, M_BEFORE)
    if not readable(board, message(board, given), given == newest, kind, expected):
        choice = -1
    _translated(board, choice)
    if given != newest:
        put(board, b.STALE, get(board, b.STALE) + 1)
    return given


@kernel
def given_place(board: Word, row: Word) -> Word:
    """Return the message after which a store is given to come."""
    given = _given(board, row)
    choice = 0
    k = get(row, R_NEWEST)
    while k != given:
        m = message(board, k)
        if is_floor(board, m, False):
            choice = -1
            break
        if get(m, M_IS_UPDATE) == 0:
            choice += 1
        k = get(m, M_BEFORE)
    _translated(board, choice)
    return given
