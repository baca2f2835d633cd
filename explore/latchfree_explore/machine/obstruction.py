"""Obstruction freedom: from every state that schedules reach, each thread alone finishes its operation.

Example: a schedule has reached a state in which thread 1 holds a lock. The machine runs the schedule up to there once
more and lets thread 0 go on alone: thread 0 waits for the lock for ever, so the program is not obstruction-free.

After a schedule, every state that no schedule had reached before is reached again, once for each thread. Meanwhile the
schedule's own trace is kept aside, because the strategy still needs it.

Where a thread is stuck, the two traces are exchanged: the board shows the stuck thread, and the schedule waits aside.
If memory is weak, the axioms may forbid what the board shows. Then the search calls again, and it goes on with the next
thread of the same state; it must not come back to the one that was refused.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.drawing import draw
from latchfree_explore.board.effects import undo
from latchfree_explore.board.layout import get, put
from latchfree_explore.machine.launch import run_threads


@kernel
def _finishes(board: Word, before: Word, state: Word, thread: Word) -> Flag:
    """Return whether `thread`, alone after `state` steps, finishes its operation; the board's trace is a spare one."""
    put(board, b.PREFIX, state)
    put(board, b.LONER, thread)
    put(board, b.MOST_STEPS, state + get(board, b.SOLO_STEPS))
    status = run_threads(board, before)
    undo(board)
    return status == b.DONE


@kernel
def _exchange(one: Word, other: Word, steps: Word) -> None:
    for k in range(steps * b.STEP_WORDS):
        word = get(one, k)
        put(one, k, get(other, k))
        put(other, k, word)


@kernel
def _copy_threads(board: Word, spare: Word, first: Word, end: Word) -> None:
    """Copy the threads and choices of some steps to a spare trace, which can then be run along."""
    for k in range(first, end):
        step = b.step(board, k)
        put(spare + 8 * b.STEP_WORDS * k, b.S_THREAD, get(step, b.S_THREAD))
        put(spare + 8 * b.STEP_WORDS * k, b.S_CHOICE, get(step, b.S_CHOICE))


@kernel
def _resume(board: Word) -> Flag:
    """Bring the schedule back that waits while the board shows a stuck thread; return whether one does."""
    kept = get(board, b.KEPT_STEPS)
    if kept == 0:
        return False
    _exchange(get(board, b.TRACE), get(board, b.SPARE_TRACE), max(kept, get(board, b.STEPS)))
    put(board, b.STEPS, kept)
    put(board, b.STATUS, get(board, b.KEPT_STATUS))
    put(board, b.KEPT_STEPS, 0)
    return True


@kernel
def all_finish(board: Word, before: Word) -> Flag:
    """Return whether each thread finishes alone from the last schedule's new states; if not, the trace shows it.

    Called once more, it goes on after the thread that is stuck.
    """
    resumed = _resume(board)
    trace, spare = get(board, b.TRACE), get(board, b.SPARE_TRACE)
    choose, settle, prefix = get(board, b.CHOOSE), get(board, b.SETTLE), get(board, b.PREFIX)
    steps, most = get(board, b.STEPS), get(board, b.MOST_STEPS)
    status = get(board, b.STATUS)
    exhaustive = get(board, b.EXHAUSTIVE) != 0
    first, passed = prefix, -1
    if resumed:
        first, passed = get(board, b.STUCK_STATE), get(board, b.STUCK_THREAD)
    elif not exhaustive:
        first = draw(board, steps)
    end = steps if exhaustive else first + 1
    _copy_threads(board, spare, 0, end)
    put(board, b.CHOOSE, get(board, b.SOLO_CHOOSE))
    put(board, b.SETTLE, 0)
    drawn = get(board, b.DRAWN)
    put(board, b.DRAWN, 0)  # the steps up to the state read what they have read
    fine = True
    for state in range(first, end):
        enabled = get(b.step(board, state), b.S_ENABLED)
        for thread in range(get(board, b.THREADS)):
            if state == first and thread <= passed:
                continue
            # Who cannot run now but does later is waiting.
            if (enabled >> thread & 1 or _has_steps(board, thread, state, steps)) and fine:
                put(board, b.TRACE, spare)
                fine = _finishes(board, before, state, thread)
                if fine:
                    put(board, b.TRACE, trace)
                    _copy_threads(board, spare, state, end)
                else:
                    put(board, b.STUCK_STATE, state)
                    put(board, b.STUCK_THREAD, thread)
        if not fine:
            break
    put(board, b.CHOOSE, choose)
    put(board, b.SETTLE, settle)
    put(board, b.DRAWN, drawn)
    put(board, b.PREFIX, prefix)
    put(board, b.MOST_STEPS, most)
    put(board, b.TRACE, trace)
    if fine:
        put(board, b.STEPS, steps)
        put(board, b.STATUS, status)
        return True
    _exchange(spare, trace, max(steps, get(board, b.STEPS)))
    put(board, b.KEPT_STEPS, steps)
    put(board, b.KEPT_STATUS, status)
    put(board, b.STATUS, b.STUCK)
    return False


@kernel
def _has_steps(board: Word, thread: Word, state: Word, steps: Word) -> Flag:
    found = False
    for k in range(state, steps):
        found = found or get(b.step(board, k), b.S_THREAD) == thread
    return found
