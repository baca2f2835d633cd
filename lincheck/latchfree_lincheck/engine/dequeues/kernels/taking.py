"""One more dequeue takes effect: which enqueues it may take, and the configurations after that.

Example: 1 and 2 were put at the same time, and a dequeue returns 2. The enqueue of 2 is taken, and the one of 1 stays
for another dequeue.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import UNKNOWN_RESULT
from latchfree_lincheck.engine.dequeues.kernels.configurations import (
    ACTIVE,
    COLUMNS,
    EMPTIES,
    FILLED,
    LIVE,
    LOST,
    LOW,
    PATH,
    STEPS,
    TAKEN,
    USED,
    WINDOW,
    Calls,
    Frontier,
    add,
    holds,
)
from latchfree_lincheck.engine.frontier.kernels.configurations import SLOTS, lowest_bit
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

ANY: Final = -9
"""As the value of an enqueue: whatever it is."""


@kernel
def _offer(calls: Calls, options: Ints, count: int, option: int, operation: int) -> int:
    """Add an enqueue to the options, unless one of the same value returns before it; return how many there are."""
    for i in range(count):
        other = calls.enqueues[options[i]] if options[i] >= 0 else calls.lost[-1 - options[i]]
        if calls.rows[other, 2] == calls.rows[operation, 2]:
            if calls.return_[operation] < calls.return_[other]:
                options[i] = option
            return count
    options[count] = option
    return count + 1


@kernel
def find_options(calls: Calls, options: Ints, low: int, window: int, taken: int, now: int, value: int) -> int:
    """Find the enqueues that may be taken next, one of each value, or of one value; return how many, or -1 if too many.

    `value` is the value, or ANY.
    """
    count, limit = 0, int64(NEVER_RETURNS)
    for i in range(low, len(calls.enqueues)):
        operation = calls.enqueues[i]
        if calls.invoke[operation] > now or calls.invoke[operation] > limit:
            break
        if i - low >= SLOTS:
            return -1
        if window >> (i - low) & 1 == 0:
            limit = min(limit, calls.return_[operation])
            if value == ANY or value == calls.rows[operation, 2]:
                count = _offer(calls, options, count, i, operation)
    for i in range(len(calls.lost)):
        operation = calls.lost[i]
        if calls.invoke[operation] > now or calls.invoke[operation] > limit:
            break
        if taken >> i & 1 == 0 and (value == ANY or value == calls.rows[operation, 2]):
            count = _offer(calls, options, count, -1 - i, operation)
    return count


@kernel
def _take(
    control: Ints, calls: Calls, frontier: Frontier, at: int, slot: int, lost: bool, option: int, now: int
) -> None:
    """Add the configuration after a dequeue takes what an enqueue put."""
    configurations = frontier.configurations
    new = control[FILLED]
    for column in range(COLUMNS):
        configurations[new, column] = configurations[at, column]
    bit = int64(1) << slot
    if lost:
        configurations[new, USED] |= bit
        dequeue = frontier.lost_owner[slot]
    else:
        configurations[new, LIVE] |= bit
        dequeue = frontier.owner[slot]
    if option < 0:
        configurations[new, TAKEN] |= int64(1) << (-1 - option)
        enqueue = calls.lost[-1 - option]
    else:
        low = configurations[new, LOW]
        window = configurations[new, WINDOW] | int64(1) << (option - low)
        while window & 1 == 1:
            window >>= 1
            low += 1
        configurations[new, LOW], configurations[new, WINDOW] = low, window
        enqueue = calls.enqueues[option]
    add(control, calls, frontier, configurations[at, PATH], dequeue, enqueue, now)


@kernel
def _find_nothing(control: Ints, calls: Calls, frontier: Frontier, at: int, slot: int, now: int) -> None:
    """Add the configuration after a dequeue whose result nobody saw found nothing."""
    configurations = frontier.configurations
    new = control[FILLED]
    for column in range(COLUMNS):
        configurations[new, column] = configurations[at, column]
    configurations[new, LIVE] |= int64(1) << slot
    add(control, calls, frontier, configurations[at, PATH], frontier.owner[slot], -1, now)


@kernel
def _first_to_return(calls: Calls, frontier: Frontier, idle: int, slot: int) -> bool:
    """Return whether no other idle dequeue with the same result returns before the one in a slot."""
    mine = frontier.owner[slot]
    while idle != 0:
        other = frontier.owner[lowest_bit(idle)]
        idle &= idle - 1
        if calls.rows[other, 4] == calls.rows[mine, 4] and calls.return_[other] < calls.return_[mine]:
            return False
    return True


@kernel
def expand(control: Ints, calls: Calls, frontier: Frontier, at: int, now: int) -> bool:
    """Add all configurations that one more dequeue leads to; return False if too many enqueues may be next."""
    configurations, options = frontier.configurations, frontier.options
    low, window, taken = configurations[at, LOW], configurations[at, WINDOW], configurations[at, TAKEN]
    idle = control[ACTIVE] & ~configurations[at, LIVE] & ~control[EMPTIES]
    waiting = idle
    while waiting != 0:
        slot = lowest_bit(waiting)
        waiting &= waiting - 1
        if not _first_to_return(calls, frontier, idle, slot):
            continue
        value = int64(calls.rows[frontier.owner[slot], 4])
        hidden = value == UNKNOWN_RESULT
        control[STEPS] += 1
        count = find_options(calls, options, low, window, taken, now, int64(ANY) if hidden else value)
        if count < 0:
            return False
        for i in range(count if hidden else min(count, 1)):
            _take(control, calls, frontier, at, slot, False, options[i], now)
        if hidden and not holds(calls, low, window, now):
            _find_nothing(control, calls, frontier, at, slot, now)
    idle = control[LOST] & ~configurations[at, USED]
    if idle != 0:  # lost dequeues are all alike: the first called takes effect first
        count = find_options(calls, options, low, window, taken, now, int64(ANY))
        if count < 0:
            return False
        for i in range(count):
            control[STEPS] += 1
            _take(control, calls, frontier, at, lowest_bit(idle), True, options[i], now)
    return True
