"""A queue searched by its dequeues: an enqueue gets its place in the order when somebody takes its item.

Example: sixteen threads put 1s and 2s into a queue and take them out an hour later. A search over states branches at
each pair of enqueues that overlap, and carries the product of all these choices until the items come out. Here nothing
is chosen before an item comes out.

The queue is first in, first out, so the enqueues in the order of their dequeues are a beginning of the order of all
enqueues. An enqueue may be the next to be taken if no other one that is not taken returned before it was called. If
this holds whenever an item is taken, there are instants for all enqueues: each as early as the order allows. A dequeue
that found nothing may take effect while every enqueue that has returned is taken.

Of several enqueues of one value that may be next, the one that returns first is taken: whatever is possible when it is
left in the queue, where it holds up more enqueues and more of the dequeues that found nothing, is possible when another
one is left. Of several dequeues of one value in flight the one that returns first takes effect first. So the choices
are only how many dequeues of each value in flight took effect, in which order. The search is just in time, as the
frontier's: dequeues take effect when one of them returns. When an enqueue returns, dequeues that found nothing may have
to take effect before, which needs others to do so.

A configuration is a row of (dequeues in flight that took effect, LOW, WINDOW, lost enqueues taken, lost dequeues that
took effect, EMPTY_BEFORE, path). Enqueues that returned have numbers in order of invocation: those below LOW are taken,
and LOW + i if bit i of WINDOW is set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, ENQUEUE
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    CROWDED,
    DONE,
    MORE_CONFIGURATIONS,
    MORE_LOG,
    SLICE,
    SLOTS,
    lowest_bit,
)
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

# The fields of `control`.
EVENT: Final = 0
FILLED: Final = 1
AT: Final = 2
KEPT: Final = 3
BASE: Final = 4
LOGGED: Final = 5
STEPS: Final = 6
WRITTEN: Final = 7
CLOSING: Final = 8
FIRST: Final = 9
ACTIVE: Final = 10
EMPTIES: Final = 11
LOST: Final = 12
FIELDS: Final = 13

# The columns of a configuration.
LIVE: Final = 0
LOW: Final = 1
WINDOW: Final = 2
TAKEN: Final = 3
USED: Final = 4
EMPTY_BEFORE: Final = 5
PATH: Final = 6
COLUMNS: Final = 7

ANY: Final = -9
OPTIONS: Final = 2 * SLOTS
ROOM: Final = SLOTS + OPTIONS + 1
"""Configurations that an expansion can add."""


class Calls(NamedTuple):
    """The calls on a queue.

    Attributes
    ----------
    events : int64[e]
        ``2 * operation`` for an invocation, one more for a return.
    invoke, return_ : int64[n]
        The ranks of events.
    rows : int32[n, 5]
        What the operations did.
    enqueues, lost : int64[...]
        The enqueues that returned and those that never did, in order of invocation.
    """

    events: Ints
    invoke: Ints
    return_: Ints
    rows: Rows
    enqueues: Ints
    lost: Ints


class Frontier(NamedTuple):
    """The arrays that hold the configurations.

    Attributes
    ----------
    owner, lost_owner : int64[SLOTS]
        The dequeue in each slot: of those that will return, and of those that never do.
    place : int64[n]
        The slot of each dequeue.
    options : int64[OPTIONS]
        Enqueues that may be next: numbers, or SLOTS less than minus the number of a lost one.
    configurations, kept : int64[room, COLUMNS]
        The frontier, and the frontier after the event in progress as far as it is known.
    table : int64[2**k]
        Finds configurations: their numbers plus one, above BASE.
    log : int64[room, 4]
        (entry before, dequeue, enqueue or -1, rank of the event).
    """

    owner: Ints
    lost_owner: Ints
    place: Ints
    options: Ints
    configurations: Ints
    kept: Ints
    table: Ints
    log: Ints


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
def holds(calls: Calls, low: int, window: int, now: int) -> bool:
    """Return whether an enqueue that returned before `now` is not taken."""
    for i in range(low, len(calls.enqueues)):
        operation = calls.enqueues[i]
        if calls.invoke[operation] > now:
            return False
        free = i - low >= SLOTS or window >> (i - low) & 1 == 0
        if free and calls.return_[operation] < now:
            return True
    return False


@kernel
def find_place(table: Ints, base: int, configurations: Ints, at: int) -> int:
    """Return where in the table configuration `at` belongs, or -1 if another one covers it."""
    mask = np.uint64(len(table) - 1)
    first = mix(configurations[at, LIVE], configurations[at, LOW])
    place = mix(int(first), int(mix(configurations[at, WINDOW], configurations[at, TAKEN]))) & mask
    while table[place] > base:
        other = table[place] - base - 1
        same = configurations[other, USED] & ~configurations[at, USED] == 0
        for column in range(USED):
            if configurations[other, column] != configurations[at, column]:
                same = False
                break
        if same:
            return -1
        place = (place + np.uint64(1)) & mask
    return int(int64(place))


@kernel
def add(control: Ints, calls: Calls, frontier: Frontier, path: int, dequeue: int, enqueue: int, now: int) -> None:
    """Keep the configuration after the last one, unless another covers it; dequeues that find nothing take effect."""
    configurations, log = frontier.configurations, frontier.log
    at = control[FILLED]
    waiting = control[EMPTIES] & ~configurations[at, LIVE]
    if waiting != 0 and holds(calls, configurations[at, LOW], configurations[at, WINDOW], now):
        waiting = int64(0)
    configurations[at, LIVE] |= waiting
    if dequeue < 0:
        configurations[at, EMPTY_BEFORE] = configurations[at, LIVE] & control[EMPTIES]
    place = find_place(frontier.table, control[BASE], configurations, at)
    if place < 0:
        return
    frontier.table[place] = control[BASE] + at + 1
    control[FILLED] = at + 1
    logged = control[LOGGED]
    if dequeue >= 0:
        log[logged, 0], log[logged, 1], log[logged, 2], log[logged, 3] = path, dequeue, enqueue, now
        path = logged
        logged += 1
    while waiting != 0:
        slot = lowest_bit(waiting)
        waiting &= waiting - 1
        log[logged, 0], log[logged, 1], log[logged, 2], log[logged, 3] = path, frontier.owner[slot], -1, now
        path = logged
        logged += 1
    control[LOGGED] = logged
    configurations[at, PATH] = path


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
        control[STEPS] += 1
        count = find_options(calls, options, low, window, taken, now, value)
        if count < 0:
            return False
        if count > 0:
            _take(control, calls, frontier, at, slot, False, options[0], now)
    idle = control[LOST] & ~configurations[at, USED]
    if idle != 0:  # lost dequeues are all alike: the first called takes effect first
        count = find_options(calls, options, low, window, taken, now, int64(ANY))
        if count < 0:
            return False
        for i in range(count):
            control[STEPS] += 1
            _take(control, calls, frontier, at, lowest_bit(idle), True, options[i], now)
    return True


@kernel
def write_path(log: Ints, path: int, order: Ints, written: int) -> int:
    """Write the entries of a path after the first `written` rows of `order`; return how many are written now."""
    count = 0
    at = path
    while at >= 0:
        count += 1
        at = log[at, 0]
    to = written + count
    at = path
    while at >= 0:
        to -= 1
        for column in range(3):
            order[to, column] = log[at, column + 1]
        at = log[at, 0]
    return written + count


@kernel
def rehash(control: Ints, frontier: Frontier) -> None:
    """Fill an empty table with the configurations of the event in progress."""
    control[BASE] = 0
    for at in range(control[FILLED]):
        place = find_place(frontier.table, 0, frontier.configurations, at)
        if place >= 0:
            frontier.table[place] = at + 1


@kernel
def _arrive(control: Ints, calls: Calls, frontier: Frontier, operation: int) -> bool:
    """Put a dequeue that was called into a slot; return False if there is none."""
    lost = calls.return_[operation] == NEVER_RETURNS
    field = LOST if lost else ACTIVE
    if control[field] == (int64(1) << SLOTS) - 1:
        return False
    slot = lowest_bit(~control[field])
    control[field] |= int64(1) << slot
    if lost:
        frontier.lost_owner[slot] = operation
    else:
        frontier.owner[slot] = operation
        frontier.place[operation] = slot
        if calls.rows[operation, 4] == ABSENT:
            control[EMPTIES] |= int64(1) << slot
    return True


@kernel
def _begin(control: Ints, calls: Calls, frontier: Frontier, now: int) -> None:
    """Begin to extend the configurations at a return: dequeues that find nothing take effect where they may."""
    control[CLOSING] = 1
    control[BASE] += len(frontier.configurations)
    control[AT] = control[KEPT] = 0
    old = control[FILLED]
    control[FILLED] = 0
    for at in range(old):  # never ahead of the configuration that is read
        for column in range(COLUMNS):
            frontier.configurations[control[FILLED], column] = frontier.configurations[at, column]
        add(control, calls, frontier, frontier.configurations[at, PATH], -1, -1, now)
    control[FIRST] = control[FILLED]


@kernel
def advance(control: Ints, calls: Calls, frontier: Frontier, order: Ints, steps: int) -> int:
    """Go on for about `steps` steps; return why it stopped.

    Parameters
    ----------
    control : int64[FIELDS]
        Where the search is.
    calls, frontier : Calls and Frontier
        What is searched, and the configurations.
    order : int64[n, 3]
        Receives (dequeue, enqueue or -1, rank) as it becomes certain.
    steps : int
        How many steps.
    """
    configurations, kept, log = frontier.configurations, frontier.kept, frontier.log
    stop_at = control[STEPS] + steps
    while control[EVENT] < len(calls.events):
        now = control[EVENT]
        operation = calls.events[now] >> 1
        enqueue = calls.rows[operation, 0] == ENQUEUE
        if calls.events[now] & 1 == 0:
            if not enqueue and not _arrive(control, calls, frontier, operation):
                return CROWDED
            control[STEPS] += 1
            control[EVENT] += 1
            continue
        bit = int64(0) if enqueue else int64(1) << frontier.place[operation]
        wanted = control[EMPTIES] if enqueue else bit
        if control[CLOSING] == 0:
            if control[STEPS] >= stop_at:
                return SLICE
            missing = False
            for at in range(control[FILLED]):
                if wanted & ~configurations[at, LIVE] != 0:
                    missing = True
                    break
            if not missing:
                for at in range(control[FILLED]):
                    configurations[at, LIVE] &= ~bit
                control[ACTIVE] &= ~bit
                control[EMPTIES] &= ~bit
                control[STEPS] += 1
                control[EVENT] += 1
                continue
            if control[LOGGED] + (SLOTS + 1) * control[FILLED] > len(log):
                return MORE_LOG
            _begin(control, calls, frontier, now)
        while control[AT] < control[FILLED]:
            if control[STEPS] >= stop_at:
                return SLICE
            if control[FILLED] + ROOM > len(configurations):
                return MORE_CONFIGURATIONS
            if control[LOGGED] + ROOM * (SLOTS + 1) > len(log):
                return MORE_LOG
            at = control[AT]
            control[AT] = at + 1
            live = configurations[at, LIVE]
            if enqueue:
                keep = at < control[FIRST] or live & control[EMPTIES] != configurations[at, EMPTY_BEFORE]
            else:
                keep = live & bit != 0
            if keep:
                for column in range(COLUMNS):
                    kept[control[KEPT], column] = configurations[at, column]
                kept[control[KEPT], LIVE] = live & ~bit
                control[KEPT] += 1
            if wanted & ~live != 0:
                control[STEPS] += 1
                if not expand(control, calls, frontier, at, now):
                    return CROWDED
        if control[KEPT] == 0:
            return BLOCKED
        for at in range(control[KEPT]):
            for column in range(COLUMNS):
                configurations[at, column] = kept[at, column]
        control[FILLED] = control[KEPT]
        if control[FILLED] == 1:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order, control[WRITTEN])
            configurations[0, PATH] = -1
            control[LOGGED] = 0
        control[CLOSING] = 0
        control[ACTIVE] &= ~bit
        control[EMPTIES] &= ~bit
        control[STEPS] += 1
        control[EVENT] += 1
    return DONE
