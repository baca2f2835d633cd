"""The configurations of a search by dequeues: what they are, which are kept, and the paths that lead to them.

Example: two configurations agree, but in the second one a dequeue that never returned took effect, too. The first one
covers the second: whatever may follow the second may follow the first. So the second one is not kept.

A configuration is a row of (dequeues in flight that took effect, LOW, WINDOW, lost enqueues taken, lost dequeues that
took effect, EMPTY_BEFORE, path). Enqueues that returned have numbers in order of invocation: those below LOW are taken,
and LOW + i if bit i of WINDOW is set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.frontier.kernels.configurations import SLOTS, lowest_bit
from latchfree_lincheck.history.timeline import Ints, int64

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
HIDDEN: Final = 13
FIELDS: Final = 14

# The columns of a configuration.
LIVE: Final = 0
LOW: Final = 1
WINDOW: Final = 2
TAKEN: Final = 3
USED: Final = 4
EMPTY_BEFORE: Final = 5
PATH: Final = 6
COLUMNS: Final = 7

OPTIONS: Final = 2 * SLOTS
ROOM: Final = SLOTS + 2 * OPTIONS + 2
"""Configurations that an expansion can add: one for each dequeue with a known result, and what one that is hidden and
one that is lost may take."""


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
        configurations[at, EMPTY_BEFORE] = configurations[at, LIVE] & (control[EMPTIES] | control[HIDDEN])
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
