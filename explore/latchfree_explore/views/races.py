"""Data races: two accesses of one word, one of them a write, one of them plain, and neither happens before the other.

Example: a node is filled in by pokes and published by a relaxed store. A reader that finds the node may still see old
words in it. The result need not be wrong on the machine at hand; the race is reported all the same.

Two accesses are ordered if one thread made both, or if the first thread released what the second acquired in between.
The first race of a schedule is noted, and the schedule goes on: a wrong result says more.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import write
from latchfree_explore.board.layout import get, put
from latchfree_explore.views.clocks import knows
from latchfree_explore.views.tables import (
    ATOMIC_READS,
    ATOMIC_WRITES,
    M_SEEN,
    PLAIN,
    PLAIN_READS,
    PLAIN_WRITES,
    R_NEWEST,
    add_message,
    clock,
    row_of,
)


@kernel
def _note(board: Word, at: Word, kind: Word, site: Word, other: Word, sort: Word) -> None:
    if not get(board, b.RACED):
        put(board, b.RACED, 1)
        put(board, b.RACE_AT, at)
        put(board, b.RACE_THREAD, get(board, b.CURRENT))
        put(board, b.RACE_KIND, kind)
        put(board, b.RACE_SITE, site)
        put(board, b.RACE_OTHER, other)
        put(board, b.RACE_WRITES, sort in (PLAIN_WRITES, ATOMIC_WRITES))
        put(board, b.RACE_PLAIN, sort in (PLAIN_WRITES, PLAIN_READS))


@kernel
def look(board: Word, row: Word, at: Word, kind: Word, site: Word, sort: Word) -> None:
    """Note a race if the running thread does not know all accesses of one sort to a word."""
    me = get(board, b.CURRENT)
    mine = clock(board, me)
    if not knows(board, mine, row + 8 * sort):
        for u in range(get(board, b.THREADS)):
            if get(row, sort + u) > get(mine, u):
                _note(board, at, kind, site, u, sort)


@kernel
def plain(board: Word, kind: Word, at: Word, operand: Word, site: Word) -> Word:
    """Make a plain access, a peek or a poke, of the running thread; return what the word held.

    A plain access reads the newest value: where no race is, no other can be read. Its time is one after the thread's
    last atomic access, so a write that follows a release is not published by it.
    """
    me = get(board, b.CURRENT)
    mine = clock(board, me)
    row = row_of(board, at)
    old = get(get(board, b.BASE), at)
    now = get(mine, me) + 1
    put(mine, me, now)
    look(board, row, at, kind, site, PLAIN_WRITES)
    look(board, row, at, kind, site, ATOMIC_WRITES)
    if kind == b.PEEK:
        put(row, PLAIN_READS + me, now)
    else:
        look(board, row, at, kind, site, PLAIN_READS)
        look(board, row, at, kind, site, ATOMIC_READS)
        put(row, PLAIN_WRITES + me, now)
        if get(row, R_NEWEST) != 0:
            # The word was written by atomic accesses in this schedule: they may still read what they wrote.
            m = add_message(board, row, get(row, R_NEWEST), operand, PLAIN)
            put(m, M_SEEN + me, now)
        if operand != old:
            write(board, at, old, operand)
    put(mine, me, now - 1)
    return old


@kernel
def is_plain(kind: Word) -> Flag:
    """Return whether an access is plain."""
    return kind == b.PEEK or kind == b.POKE
