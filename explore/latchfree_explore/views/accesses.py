"""Atomic accesses where threads are watched: which message is read, which one is made, and what becomes known.

Invariant: BASE holds the newest message's value of each word, which is what the undo log, plain accesses and operations
after the threads rely on. Words that no atomic access has written in this schedule have no messages.

Sources: the machine of Kang, Hur, Lahav, Vafeiadis and Dreyer (POPL 2017), without promises; strong release-acquire of
Lahav, Giannarakis and Vafeiadis (POPL 2016); clocks as in FastTrack (Flanagan and Freund, PLDI 2009).
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import effect, write
from latchfree_explore.board.layout import get, put
from latchfree_explore.views.choosing import place_after, read_from
from latchfree_explore.views.clocks import join, tick
from latchfree_explore.views.giving import given_place, given_to_read, is_given
from latchfree_explore.views.races import is_plain, look, plain
from latchfree_explore.views.tables import (
    ATOMIC_READS,
    ATOMIC_WRITES,
    HELD,
    INITIAL,
    M_IS_UPDATE,
    M_SEEN,
    M_UPDATED,
    M_VALUE,
    M_VIEW,
    PLAIN_READS,
    PLAIN_WRITES,
    R_NEWEST,
    RELEASED,
    SEQ,
    WRITTEN,
    add_message,
    clock,
    message,
    number,
    row_of,
)
from latchfree_explore.views.weakening import AS_CODED, AS_STORE, RELAXED, weakening


@kernel
def _see(board: Word, m: Word, now: Word, acquires: Flag) -> None:
    """Let the running thread see a message, and know what came with it if it acquires."""
    me = get(board, b.CURRENT)
    if get(m, M_SEEN + me) == 0:
        put(m, M_SEEN + me, now)
    join(board, clock(board, me if acquires else HELD + me), m + 8 * M_VIEW)


@kernel
def _make(board: Word, row: Word, after: Word, value: Word, seq: Flag, releases: Flag, update: Flag, now: Word) -> None:
    """Make the message of a store or an update, next to message `after`."""
    me = get(board, b.CURRENT)
    at_the_end = after == get(row, R_NEWEST)
    m = add_message(board, row, after, value, SEQ if seq else WRITTEN)
    put(m, M_SEEN + me, now)
    join(board, m + 8 * M_VIEW, clock(board, me if releases else RELEASED + me))
    if update:
        # A release sequence goes on through updates: who acquires this one also acquires what it read.
        before = message(board, after)
        join(board, m + 8 * M_VIEW, before + 8 * M_VIEW)
        put(m, M_IS_UPDATE, 1)
        put(before, M_UPDATED, 1)
    step = b.step(board, get(board, b.STEPS) - 1)
    put(step, b.S_MADE, get(board, b.MESSAGES_USED))
    if at_the_end:
        at = get(step, b.S_AT)
        held = get(get(board, b.BASE), at)
        if value != held:
            write(board, at, held, value)


@kernel
def watched(board: Word, kind: Word, at: Word, expected: Word, operand: Word, site: Word) -> Word:
    """Make an access that is a step; return what it read."""
    if is_plain(kind):
        return plain(board, kind, at, operand, site)
    how = weakening(board, site)
    if how == AS_STORE and kind == b.EXCHANGE:
        kind = b.STORE
    reads, writes = kind != b.STORE, kind >= b.STORE
    seq = (writes or kind == b.LOAD_SEQ) and kind != b.STORE and how == AS_CODED
    sure = kind != b.LOAD_UNSURE
    acquires, releases = reads and how != RELAXED, writes and how != RELAXED
    me = get(board, b.CURRENT)
    now = tick(board, me)
    row = row_of(board, at)
    if sure:
        look(board, row, at, kind, site, PLAIN_WRITES)
    old = get(get(board, b.BASE), at)
    step = b.step(board, get(board, b.STEPS) - 1)
    after = get(row, R_NEWEST)
    if reads:
        if sure:
            put(row, ATOMIC_READS + me, now)
        if after != 0:
            if is_given(board):
                after = given_to_read(board, row, kind, expected, seq)
            else:
                after = read_from(board, row, kind, expected, seq)
            old = get(message(board, after), M_VALUE)
            put(step, b.S_FROM, number(board, after))
            _see(board, message(board, after), now, acquires)
        if kind == b.CAS and old != expected:
            writes = False
    if writes:
        look(board, row, at, kind, site, PLAIN_READS)
        put(row, ATOMIC_WRITES + me, now)
        if after == 0:
            add_message(board, row, 0, old, INITIAL)
            after = get(row, R_NEWEST)
        if not reads:
            after = given_place(board, row) if is_given(board) else place_after(board, row)
        new = effect(kind, old, expected, operand)
        _make(board, row, after, new, seq, releases, reads, now)
    return old
