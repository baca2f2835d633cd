"""Exhaustive with dynamic partial-order reduction: one schedule for each way in which dependent steps can be ordered.

Schedules that differ only in the order of independent neighbours are equivalent, and every schedule is equivalent
to one that is run. Source sets with sleep sets: Abdulla, Aronis, Jonsson, Sagonas, "Optimal Dynamic Partial Order
Reduction", POPL 2014, algorithm 1.

Invariant: at every step of the current schedule, S_TRIED together with S_SLEEP is a source set for what has been
seen of the tree below it; S_SLEEP holds the threads whose next step leads to nothing new. S_CLOCK is the vector
clock of the step in the happens-before order of `latchfree_explore.board.dependence`.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.dependence import conflict, disturbs
from latchfree_explore.board.layout import get, put
from latchfree_explore.strategies.choices import next_choice
from latchfree_explore.strategies.directed import continued
from latchfree_explore.strategies.strategy import Strategy


@kernel
def _join(board: Word, into: Word, other: Word) -> None:
    """Raise the clock of one step to the maximum with another's."""
    for k in range(get(board, b.THREADS)):
        if get(into, b.S_CLOCK + k) < get(other, b.S_CLOCK + k):
            put(into, b.S_CLOCK + k, get(other, b.S_CLOCK + k))


@kernel
def _initials(board: Word, i: Word, e: Word) -> Word:
    """Return the threads that could go first if step `e` were to come before step `i`.

    Of the steps after `i` that do not happen after it, and then `e`: the threads whose first one waits for none.
    """
    threads = get(board, b.THREADS)
    racer = get(b.step(board, i), b.S_THREAD)
    seen = 0
    initials = 0
    for j in range(i + 1, e + 1):
        step = b.step(board, j)
        thread = get(step, b.S_THREAD)
        if seen >> thread & 1 or (j < e and get(step, b.S_CLOCK + racer) > i):
            continue
        free = True
        for u in range(threads):
            # F_PRIORITY holds the first step of each thread seen.
            if u != thread and seen >> u & 1 and get(b.fiber(board, u), b.F_PRIORITY) < get(step, b.S_CLOCK + u):
                free = False
        put(b.fiber(board, thread), b.F_PRIORITY, j)
        seen |= 1 << thread
        if free:
            initials |= 1 << thread
    return initials


@kernel
def _reverse(board: Word, i: Word, e: Word) -> None:
    """See to it that the race of steps `i` and `e` is also run the other way round."""
    step = b.step(board, i)
    tried = get(step, b.S_TRIED)
    initials = _initials(board, i, e)
    if (tried | get(step, b.S_SLEEP)) & initials:
        return
    enabled = get(step, b.S_ENABLED)
    able = initials & enabled
    if able == 0:
        put(step, b.S_TRIED, tried | enabled)
        return
    racer = get(b.step(board, e), b.S_THREAD)
    thread = racer if able >> racer & 1 else 0
    while not able >> thread & 1:
        thread += 1
    put(step, b.S_TRIED, tried | 1 << thread)


@kernel
def _wake_earlier(board: Word, e: Word) -> None:
    """See to it that the pause that ended at step `e` also ends at every earlier chance.

    What ended it cannot be reversed, for the thread could not go on before; but a chance may have passed unused.
    """
    thread = get(b.step(board, e), b.S_THREAD)
    for i in range(e - 1, -1, -1):
        step = b.step(board, i)
        if get(step, b.S_THREAD) == thread:
            return
        if get(step, b.S_ENABLED) >> thread & 1 and conflict(board, i, e):
            put(step, b.S_TRIED, get(step, b.S_TRIED) | 1 << thread)


@kernel
def settle(board: Word) -> None:
    """Put the step just made into the happens-before order, and note its races."""
    e = get(board, b.STEPS) - 1
    if e < get(board, b.PREFIX) - 1:
        return
    mine = b.step(board, e)
    thread = get(mine, b.S_THREAD)
    for k in range(get(board, b.THREADS)):
        put(mine, b.S_CLOCK + k, 0)
    for i in range(e - 1, -1, -1):
        other = b.step(board, i)
        whose = get(other, b.S_THREAD)
        if i < get(mine, b.S_CLOCK + whose):
            continue
        if whose == thread:
            _join(board, mine, other)
        elif conflict(board, i, e):
            _reverse(board, i, e)
            _join(board, mine, other)
    put(mine, b.S_CLOCK + thread, e + 1)
    if get(mine, b.S_KIND) == b.PAUSE:
        _wake_earlier(board, e)


@kernel
def _wake(board: Word, now: Word) -> None:
    """Write down the sleep set of the state now reached: the sleeping threads that the last step did not disturb."""
    asleep = 0
    returning = 0
    if now > 0:
        before = b.step(board, now - 1)
        sleep = get(before, b.S_SLEEP) & ~(1 << get(before, b.S_THREAD))
        returns = get(before, b.S_SLEEP_RETURNS)
        for k in range(get(board, b.THREADS)):
            if sleep >> k & 1 and not disturbs(board, now - 1, k, returns >> k & 1):
                asleep |= 1 << k
                returning |= returns & 1 << k
    mine = b.step(board, now)
    put(mine, b.S_SLEEP, asleep)
    put(mine, b.S_SLEEP_RETURNS, returning)


@kernel
def choose(board: Word, runnable: Word) -> Word:
    """Return the thread to run, -1 if all that can run are asleep."""
    now = get(board, b.STEPS)
    _wake(board, now)
    mine = b.step(board, now)
    awake = runnable & ~get(mine, b.S_SLEEP)
    if awake == 0:
        return -1
    thread = continued(board, awake)
    put(mine, b.S_TRIED, 1 << thread)
    return thread


@kernel
def advance(board: Word) -> Flag:
    """Branch at the last step that has a thread left to try; return False if there is none."""
    for k in range(get(board, b.STEPS) - 1, -1, -1):
        if next_choice(board, k):
            return True
        mine = b.step(board, k)
        thread = get(mine, b.S_THREAD)
        sleep = get(mine, b.S_SLEEP) | 1 << thread
        put(mine, b.S_SLEEP, sleep)
        if get(mine, b.S_FLAGS) & b.RETURNS:
            put(mine, b.S_SLEEP_RETURNS, get(mine, b.S_SLEEP_RETURNS) | 1 << thread)
        left = get(mine, b.S_TRIED) & ~sleep
        if left != 0:
            thread = 0
            while not left >> thread & 1:
                thread += 1
            put(mine, b.S_THREAD, thread)
            put(mine, b.S_CHOICE, 0)
            put(board, b.PREFIX, k + 1)
            return True
    return False


DPOR = Strategy(
    "dpor", choose, advance, settle, exhaustive=True, complete=True, claim="linearizable in every interleaving"
)
