"""The scheduler: decides which thread makes the next access, inside the fiber that has come to one.

Every thread announces its next access before any thread is chosen, so a strategy knows what each thread would do. If
the fiber chooses itself, it just goes on; otherwise it switches to the other fiber's stack.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.dependence import may_wake
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import switch
from latchfree_explore.strategies.dispatch import choose, settle
from latchfree_explore.views.clocks import invoked


@kernel
def _runnable(board: Word) -> Word:
    """Return the mask of the threads that can make their next access."""
    mask = 0
    awake = get(board, b.GUIDED) == b.GUIDED_ON
    for k in range(get(board, b.THREADS)):
        f = b.fiber(board, k)
        if get(f, b.F_READY) and (get(f, b.F_KIND) != b.PAUSE or awake or may_wake(board, k)):
            mask |= 1 << k
    return mask


@kernel
def _unfinished(board: Word) -> Word:
    mask = 0
    for k in range(get(board, b.THREADS)):
        mask |= get(b.fiber(board, k), b.F_READY) << k
    return mask


@kernel
def _begin_step(board: Word, thread: Word, runnable: Word) -> None:
    """Write down what `thread` is about to do."""
    f = b.fiber(board, thread)
    now = get(board, b.STEPS)
    mine = b.step(board, now)
    put(mine, b.S_THREAD, thread)
    put(mine, b.S_KIND, get(f, b.F_KIND))
    put(mine, b.S_AT, get(f, b.F_AT))
    put(mine, b.S_A, get(f, b.F_A))
    put(mine, b.S_B, get(f, b.F_B))
    put(mine, b.S_SITE, get(f, b.F_SITE))
    put(mine, b.S_CALL, get(f, b.F_CALL))
    put(mine, b.S_ENABLED, runnable)
    if now >= get(board, b.PREFIX):
        put(mine, b.S_CHOICE, 0)
    put(mine, b.S_CHOICES, 0)
    put(mine, b.S_FROM, 0)
    put(mine, b.S_MADE, 0)
    flags = 0
    if get(f, b.F_INVOKING):
        invoked(board, thread)
        put(f, b.F_INVOKING, 0)
        flags = b.INVOKES
        call = b.call(board, get(f, b.F_CALL))
        put(call, b.C_INVOKE, now)
        put(call, b.C_BEFORE, get(board, b.RETURNED))
    put(mine, b.S_FLAGS, flags)
    put(f, b.F_LAST, now + 1)
    put(board, b.STEPS, now + 1)


@kernel
def next_thread(board: Word) -> Word:
    """Decide which thread makes the next access, and write the step down; end the schedule if no thread can."""
    if get(board, b.ARRIVED) < get(board, b.THREADS):
        # At the beginning every thread comes as far as its first access.
        thread = get(board, b.ARRIVED)
        put(board, b.ARRIVED, thread + 1)
        return thread
    now = get(board, b.STEPS)
    if now > 0:
        settle(board)
    runnable = _runnable(board)
    if runnable == 0:
        leave(board, b.DEADLOCK if _unfinished(board) else b.DONE)
    if now == get(board, b.MOST_STEPS):
        leave(board, b.ENDLESS)
    if now < get(board, b.PREFIX):
        thread = get(b.step(board, now), b.S_THREAD)
        if not runnable >> thread & 1:
            leave(board, b.DIVERGED)
    else:
        thread = choose(board, runnable)
        if thread < 0:
            leave(board, b.SLEEPING)
    _begin_step(board, thread, runnable)
    return thread


@kernel
def enter(board: Word, thread: Word) -> None:
    """Let a thread go on; returns when the calling fiber is chosen again."""
    me = get(board, b.CURRENT)
    if thread != me:
        put(board, b.CURRENT, thread)
        save = b.fiber(board, me) + 8 * b.F_STACK
        switch(np.uint64(save), np.uint64(get(b.fiber(board, thread), b.F_STACK)))


@kernel
def arrive(board: Word, kind: Word, at: Word, a: Word, operand: Word, site: Word) -> None:
    """Announce an access; returns when it is to be made."""
    me = b.fiber(board, get(board, b.CURRENT))
    put(me, b.F_READY, 1)
    put(me, b.F_KIND, kind)
    put(me, b.F_AT, at)
    put(me, b.F_A, a)
    put(me, b.F_B, operand)
    put(me, b.F_SITE, site)
    enter(board, next_thread(board))
