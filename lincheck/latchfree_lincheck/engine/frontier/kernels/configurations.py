"""The data of a frontier: configurations and the table that finds them, slots of operations in flight, paths.

A *slot* is a bit: of the operations in flight that will return, and apart from them of those that never do. A
configuration is a row of (slots that took effect, pending slots that took effect, state, path). The path is a node of
`log`, whose rows are (the node before, operation).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree.atomics import trailing_zeros
from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import CLEAR, SNAPSHOT
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import Rows, is_read
from latchfree_lincheck.history.timeline import Ints, int64

# Why it stopped.
DONE: Final = 0
SLICE: Final = 1
BLOCKED: Final = 2
MORE_NODES: Final = 3
MORE_CONFIGURATIONS: Final = 4
MORE_LOG: Final = 5
CROWDED: Final = 6

# The fields of `control`.
EVENT: Final = 0
FILLED: Final = 1
AT: Final = 2
KEPT: Final = 3
BASE: Final = 4
LOGGED: Final = 5
STEPS: Final = 6
WRITTEN: Final = 7
GROWTH: Final = 8
CLOSING: Final = 9
ORIGIN: Final = 10
ORIGIN_STATE: Final = 11
ORIGIN_USED: Final = 12
ORIGIN_WRITTEN: Final = 13
CONTROL_FIELDS: Final = 14

# The fields of `flight`: bit masks over the slots of operations that will return, and of those that never do.
ACTIVE: Final = 0
LOST: Final = 1
WHOLE: Final = 2
WHOLE_LOST: Final = 3
SAME_KEY: Final = 4
READS: Final = 5
FLIGHT_FIELDS: Final = 6

SLOTS: Final = 62

OF_LIST: Final = -1
"""As GROWTH: an operation adds as many nodes as the list is long."""

# The columns of a configuration.
LIVE: Final = 0
USED: Final = 1
STATE: Final = 2
PATH: Final = 3
COLUMNS: Final = 4


class FrontierArrays(NamedTuple):
    """The arrays that hold a frontier.

    Attributes
    ----------
    control : int64[CONTROL_FIELDS]
        Where the search is, and how much of the tables is filled.
    flight : int64[FLIGHT_FIELDS]
        Bit masks over the slots of operations in flight.
    owner, lost_owner : int64[SLOTS]
        The operation in each slot: of those that will return, and of those that never do.
    twins : int64[SLOTS]
        The bit of the latest identical operation that never returns and is in flight, or 0.
    configurations, kept : int64[room, COLUMNS]
        The frontier, and the frontier after the event in progress as far as it is known.
    table : int64[2**k]
        Finds configurations: their numbers plus one, above BASE.
    log : int64[room, 2]
        The nodes of paths.
    """

    control: Ints
    flight: Ints
    owner: Ints
    lost_owner: Ints
    twins: Ints
    configurations: Ints
    kept: Ints
    table: Ints
    log: Ints


@kernel
def start(control: Ints, flight: Ints, configurations: Ints, state: int, first_event: int) -> None:
    """Begin a part: one configuration, in which nothing took effect."""
    for field in (FILLED, AT, KEPT, LOGGED, STEPS, WRITTEN, CLOSING):
        control[field] = 0
    control[EVENT] = first_event
    control[FILLED] = 1
    control[ORIGIN] = first_event
    control[ORIGIN_STATE] = state
    control[ORIGIN_USED] = 0
    control[ORIGIN_WRITTEN] = 0
    for field in range(FLIGHT_FIELDS):
        flight[field] = 0
    configurations[0, LIVE] = 0
    configurations[0, USED] = 0
    configurations[0, STATE] = state
    configurations[0, PATH] = -1


@kernel
def lowest_bit(bits: int) -> int:
    """Return the number of the lowest bit that is set."""
    return int(int64(trailing_zeros(np.uint64(bits))))


@kernel
def find_slot(table: Ints, base: int, configurations: Ints, live: int, used: int, state: int) -> int:
    """Return where in the table the configuration belongs, or -1 if another one covers it."""
    mask = np.uint64(len(table) - 1)
    slot = mix(live, state) & mask
    while table[slot] > base:
        other = table[slot] - base - 1
        if (
            configurations[other, STATE] == state
            and configurations[other, LIVE] == live
            and configurations[other, USED] & ~used == 0
        ):
            return -1
        slot = (slot + np.uint64(1)) & mask
    return int(int64(slot))


@kernel
def add(
    control: Ints,
    configurations: Ints,
    table: Ints,
    log: Ints,
    owner: Ints,
    before: int,
    live: int,
    used: int,
    state: int,
    path: int,
    operation: int,
) -> None:
    """Append a configuration unless another one covers it; `operation` and then the reads it allowed took effect."""
    slot = find_slot(table, control[BASE], configurations, live, used, state)
    if slot < 0:
        return
    at = control[FILLED]
    table[slot] = control[BASE] + at + 1
    logged = control[LOGGED]
    if operation >= 0:
        log[logged, 0] = path
        log[logged, 1] = operation
        path = logged
        logged += 1
    reads = live & ~before
    while reads != 0:
        lowest = lowest_bit(reads)
        reads &= ~(int64(1) << lowest)
        log[logged, 0] = path
        log[logged, 1] = owner[lowest]
        path = logged
        logged += 1
    control[LOGGED] = logged
    configurations[at, LIVE] = live
    configurations[at, USED] = used
    configurations[at, STATE] = state
    configurations[at, PATH] = path
    control[FILLED] = at + 1


@kernel
def arrive(
    flight: Ints,
    owner: Ints,
    lost_owner: Ints,
    twins: Ints,
    place: Ints,
    rows: Rows,
    operation: int,
    pending: bool,
) -> bool:
    """Put an operation that was invoked into a slot; return False if there is none."""
    code = rows[operation, 0]
    whole = SNAPSHOT <= code <= CLEAR
    if not pending:
        if flight[ACTIVE] == (int64(1) << SLOTS) - 1:
            return False
        slot = lowest_bit(~flight[ACTIVE])
        bit = int64(1) << slot
        flight[ACTIVE] |= bit
        owner[slot] = operation
        place[operation] = slot
        if whole:
            flight[WHOLE] |= bit
        if is_read(rows, operation):
            flight[READS] |= bit
        return True
    if is_read(rows, operation):
        return True
    if flight[LOST] == (int64(1) << SLOTS) - 1:
        return False
    slot = lowest_bit(~flight[LOST])
    bit = int64(1) << slot
    twins[slot] = 0
    for earlier in range(slot):
        same = True
        for column in range(5):
            if rows[lost_owner[earlier], column] != rows[operation, column]:
                same = False
        if same:
            twins[slot] = int64(1) << earlier
    flight[LOST] |= bit
    lost_owner[slot] = operation
    if whole:
        flight[WHOLE_LOST] |= bit
    return True


@kernel
def leave(control: Ints, flight: Ints, returning: int) -> None:
    """Free the slot of the operation that returned, and go to the next event."""
    flight[ACTIVE] &= ~returning
    flight[WHOLE] &= ~returning
    flight[READS] &= ~returning
    control[CLOSING] = 0
    control[STEPS] += 1
    control[EVENT] += 1


@kernel
def write_path(log: Ints, path: int, order: Ints, written: int) -> int:
    """Write the operations of a path after the first `written` ones of `order`; return how many are written now."""
    steps = 0
    at = path
    while at >= 0:
        steps += 1
        at = log[at, 0]
    to = written + steps
    at = path
    while at >= 0:
        to -= 1
        order[to] = log[at, 1]
        at = log[at, 0]
    return written + steps


@kernel
def longest(configurations: Ints, filled: int, log: Ints) -> int:
    """Return the path of the configuration in which most operations took effect."""
    best, most = int64(-1), -1
    for i in range(filled):
        steps = 0
        at = configurations[i, PATH]
        while at >= 0:
            steps += 1
            at = log[at, 0]
        if steps > most:
            best, most = configurations[i, PATH], steps
    return int(best)


@kernel
def rehash(control: Ints, configurations: Ints, table: Ints) -> None:
    """Fill an empty table with the configurations of the event in progress."""
    control[BASE] = 0
    for i in range(control[FILLED]):
        live, used, state = configurations[i, LIVE], configurations[i, USED], configurations[i, STATE]
        slot = find_slot(table, 0, configurations[:i], live, used, state)
        if slot >= 0:
            table[slot] = i + 1
