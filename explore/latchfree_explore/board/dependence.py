"""Which steps depend on each other, so that their order matters.

Example: two threads load the same word. The loads may change places, and nothing is different; they are independent. If
one thread stores to that word, the order decides what the other thread loads; the steps depend on each other.

Steps of different threads depend on each other in three cases:

- They touch the same word, and one of them changes it. A compare-and-swap that fails changes nothing, and neither does
  a store of the value that is there already: such a step counts as a read.
- One ends an operation and the other begins one: their order decides whether the first operation precedes the second.
  An invocation belongs to the first access of its operation, and a return to the last. No real-time order that the
  accesses allow is tighter; a history that a looser order explains needs no further look.
- One is a pause, and the other changes a word that the pausing thread has read since its last pause.

Where memory is weak, every write is a new message and so changes its word, and two fences depend on each other.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import effect
from latchfree_explore.board.layout import get


@kernel
def _writes(kind: Word) -> Flag:
    """Return whether accesses of a kind write."""
    return kind >= b.STORE and kind < b.FENCE and kind != b.PEEK


@kernel
def _is_weak(board: Word) -> Flag:
    return get(board, b.WATCH) == b.WEAK


@kernel
def changes(board: Word, step: Word) -> Flag:
    """Return whether a step changed its word."""
    if _is_weak(board):
        kind = get(step, b.S_KIND)
        return _writes(kind) and (kind != b.CAS or get(step, b.S_OLD) == get(step, b.S_A))
    return get(step, b.S_OLD) != get(step, b.S_NEW)


@kernel
def _are_fences(board: Word, one: Word, other: Word) -> Flag:
    return one == b.FENCE and other == b.FENCE and _is_weak(board)


@kernel
def _spins_on(board: Word, thread: Word, before: Word, at: Word) -> Flag:
    """Return whether `thread`, pausing at step `before`, has read word `at` since it last paused."""
    for k in range(before - 1, -1, -1):
        step = b.step(board, k)
        if get(step, b.S_THREAD) == thread:
            if get(step, b.S_KIND) == b.PAUSE:
                return False
            if get(step, b.S_AT) == at:
                return True
    return False


@kernel
def may_wake(board: Word, thread: Word) -> Flag:
    """Return whether a word that a pausing thread has read since it last paused has changed."""
    base = get(board, b.BASE)
    for k in range(get(board, b.STEPS) - 1, -1, -1):
        step = b.step(board, k)
        if get(step, b.S_THREAD) == thread:
            if get(step, b.S_KIND) == b.PAUSE:
                return False
            at = get(step, b.S_AT)
            if at != b.NOWHERE and get(base, at) != get(step, b.S_NEW):
                return True
    return False


@kernel
def conflict(board: Word, i: Word, j: Word) -> Flag:
    """Return whether steps `i` and `j`, of different threads, depend on each other."""
    one, other = b.step(board, i), b.step(board, j)
    flags, others = get(one, b.S_FLAGS), get(other, b.S_FLAGS)
    ordered = (flags & b.RETURNS and others & b.INVOKES) or (flags & b.INVOKES and others & b.RETURNS)
    if ordered and get(board, b.REAL_TIME):
        return True
    at = get(one, b.S_AT)
    if at != b.NOWHERE and at == get(other, b.S_AT):
        return changes(board, one) or changes(board, other)
    if _are_fences(board, get(one, b.S_KIND), get(other, b.S_KIND)):
        return True
    if get(one, b.S_KIND) == b.PAUSE and changes(board, other):
        return _spins_on(board, get(one, b.S_THREAD), i, get(other, b.S_AT))
    if get(other, b.S_KIND) == b.PAUSE and changes(board, one):
        return _spins_on(board, get(other, b.S_THREAD), j, at)
    return False


@kernel
def disturbs(board: Word, i: Word, thread: Word, returns: Word) -> Flag:
    """Return whether step `i`, the last one made, depends on the next step of `thread`.

    `returns` tells whether that step ends an operation.
    """
    done = b.step(board, i)
    next_ = b.fiber(board, thread)
    flags = get(done, b.S_FLAGS)
    ordered = (flags & b.RETURNS and get(next_, b.F_INVOKING)) or (flags & b.INVOKES and returns)
    if ordered and get(board, b.REAL_TIME):
        return True
    at = get(next_, b.F_AT)
    if at == b.NOWHERE:
        kind = get(next_, b.F_KIND)
        if _are_fences(board, get(done, b.S_KIND), kind):
            return True
        return kind == b.PAUSE and changes(board, done) and _spins_on(board, thread, i, get(done, b.S_AT))
    held = get(get(board, b.BASE), at)
    would_change = effect(get(next_, b.F_KIND), held, get(next_, b.F_A), get(next_, b.F_B)) != held
    if _is_weak(board):
        would_change = _writes(get(next_, b.F_KIND))
    if get(done, b.S_KIND) == b.PAUSE:
        return would_change and _spins_on(board, get(done, b.S_THREAD), i, at)
    return at == get(done, b.S_AT) and (changes(board, done) or would_change)
