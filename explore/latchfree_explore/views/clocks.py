"""Vector clocks: what each thread knows of the others' accesses.

Example: thread 0 pokes a word and stores a flag. Thread 1 loads the flag and reads what thread 0 stored; from then on
its clock has the time of the poke, so its own peek of the word comes after the poke for certain.

Invariant: access `n` of thread `u` happens before the next access of thread `t` exactly if ``clock(t)[u] >= n``.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.views.tables import CLIENT, FENCES, HELD, PAUSED, RELEASED, clock
from latchfree_explore.views.weakening import AS_CODED, weakening


@kernel
def join(board: Word, into: Word, other: Word) -> None:
    """Add to a clock what another one knows."""
    for u in range(get(board, b.THREADS)):
        if get(into, u) < get(other, u):
            put(into, u, get(other, u))


@kernel
def knows(board: Word, clock_: Word, times: Word) -> Flag:
    """Return whether a clock knows all the accesses made at `times`, one for each thread."""
    known = True
    for u in range(get(board, b.THREADS)):
        known = known and get(times, u) <= get(clock_, u)
    return known


@kernel
def tick(board: Word, thread: Word) -> Word:
    """Begin an atomic access of a thread; return its time."""
    mine = clock(board, thread)
    now = get(mine, thread) + 1
    put(mine, thread, now)
    return now


@kernel
def is_along(board: Word) -> Flag:
    """Return whether an execution graph answers the accesses, and nothing is known but what the graph orders."""
    return get(board, b.GUIDED) == b.GUIDED_ALONG or get(board, b.GUIDED) == b.GUIDED_ON


@kernel
def returned(board: Word, thread: Word) -> None:
    """Let whoever starts an operation from now on know what `thread` knows: an operation of it has returned.

    What returned before may be known: the client can have been told. Nothing else orders operations of two threads.
    """
    if get(board, b.WATCH) and get(board, b.REAL_TIME) and not is_along(board):
        tick(board, thread)
        join(board, clock(board, CLIENT), clock(board, thread))


@kernel
def invoked(board: Word, thread: Word) -> None:
    """Let `thread` know what returned operations knew: it begins an operation."""
    if get(board, b.WATCH) and get(board, b.REAL_TIME) and not is_along(board):
        join(board, clock(board, thread), clock(board, CLIENT))


@kernel
def fenced(board: Word, site: Word) -> None:
    """Make a fence: fences of all threads are in one order, and each knows what was known at those before it.

    A fence that is weakened does nothing. Along an execution graph a fence passes on, and takes up, what relaxed
    accesses beside it do not, and no more.
    """
    if weakening(board, site) != AS_CODED:
        return
    thread = get(board, b.CURRENT)
    tick(board, thread)
    if is_along(board):
        join(board, clock(board, thread), clock(board, HELD + thread))
        join(board, clock(board, RELEASED + thread), clock(board, thread))
        return
    join(board, clock(board, thread), clock(board, FENCES))
    join(board, clock(board, FENCES), clock(board, thread))


@kernel
def paused(board: Word) -> None:
    """Note that the running thread has paused: what it saw before, and is overwritten, it will not read again.

    Without this rule a thread that waits for a store could read the old value for ever.
    """
    thread = get(board, b.CURRENT)
    put(clock(board, PAUSED), thread, get(clock(board, thread), thread))
