"""Just-in-time linearization (Lowe): a frontier of configurations carried from event to event.

A configuration is the state and which of the operations in flight took effect. At the return of an operation every
configuration in which it did not yet take effect is extended by operations in flight until it has; the others
stay as they are. The history is linearizable if and only if the frontier never becomes empty, and the first return
that empties it is the first that no order explains.

Exact, with five prunings:

- an operation that can never change the state takes effect as soon as it is legal, as nothing is gained by waiting;
- an operation on another key than the one that returns commutes with it, so it waits, unless one on the whole map
  is in flight (and before a snapshot only keys that differ from what it saw need to move);
- of identical pending operations the earliest takes effect first;
- a configuration covers one that is equal but for further pending operations that took effect;
- texts that no later get can tell from each other are one state (see `lookahead`).

The path to each configuration is a chain in `log`. When a single configuration is left, all later orders begin with
its path: the path is written out and the log is empty again, so memory is what the frontier takes, not the history.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import APPEND, CLEAR, SNAPSHOT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import States, build, fetch, length
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, KEYS, PartArrays, Rows, after, judge
from latchfree_lincheck.engine.frontier.kernels.configurations import (  # fmt: skip
    ACTIVE,
    AT,
    BASE,
    BLOCKED,
    CLOSING,
    COLUMNS,
    CROWDED,
    DONE,
    EVENT,
    FILLED,
    GROWTH,
    KEPT,
    LIVE,
    LOGGED,
    LOST,
    MORE_CONFIGURATIONS,
    MORE_LOG,
    MORE_NODES,
    OF_LIST,
    ORIGIN,
    ORIGIN_STATE,
    ORIGIN_USED,
    ORIGIN_WRITTEN,
    PATH,
    READS,
    SAME_KEY,
    SLICE,
    SLOTS,
    STATE,
    STEPS,
    USED,
    WHOLE,
    WHOLE_LOST,
    WRITTEN,
    FrontierArrays,
    add,
    arrive,
    leave,
    lowest_bit,
    write_path,
)
from latchfree_lincheck.engine.frontier.kernels.lookahead import appended, seen_as
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64


@kernel
def _settle(nodes: Ints, shape: Ints, rows: Rows, owner: Ints, reads: int, live: int, state: int) -> int:
    """Return which operations took effect once all reads that are legal did; `reads` are those in flight."""
    waiting = reads & ~live
    while waiting != 0:
        slot = lowest_bit(waiting)
        bit = int64(1) << slot
        waiting &= ~bit
        legal, _ = judge(nodes, shape, rows, owner[slot], state)
        if legal:
            live |= bit
    return live


@kernel
def _useful(
    nodes: Ints, shape: Ints, rows: Rows, owner: Ints, flight: Ints, live: int, used: int, state: int, slot: int
) -> bool:
    """Return whether an operation of another key may have to go before one on the whole map that is in flight."""
    if flight[WHOLE_LOST] & ~used != 0:
        return True
    mine = owner[slot]
    if SNAPSHOT <= rows[mine, 0] <= CLEAR:
        return True
    whole = flight[WHOLE] & ~live
    while whole != 0:
        lowest = lowest_bit(whole)
        whole &= ~(int64(1) << lowest)
        other = owner[lowest]
        result = rows[other, 4]
        if rows[other, 0] != SNAPSHOT or result == UNKNOWN_RESULT:
            return True
        key = rows[mine, 1]
        if fetch(nodes, shape[DEPTH], state, key) != fetch(nodes, shape[DEPTH], result, key):
            return True
    return False


@kernel
def _follow(
    nodes: Ints,
    slots: Ints,
    size: Ints,
    shape: Ints,
    rows: Rows,
    number: int,
    state: int,
    value: int,
    pieces: Ints,
    path: Ints,
    uses: Ints,
    event: int,
) -> int:
    """Return the state after a row that writes, see `after`; of a text that nobody can tell from others, JUNK."""
    if len(uses) == 0:
        return after(nodes, slots, size, shape, rows, number, state, value, pieces, path)
    if rows[number, 0] == APPEND:
        a, b = rows[number, 2], rows[number, 3]
        return appended(nodes, slots, uses, state, pieces[a : a + b], event)
    return seen_as(uses, after(nodes, slots, size, shape, rows, number, state, value, pieces, path), event)


@kernel
def _fill(leaves: Ints, contents: Ints, row: int, keys: int, depth: int) -> None:
    """Copy what a snapshot saw into scratch, with ABSENT for the keys there are not."""
    for key in range(1 << depth):
        leaves[key] = contents[row, key] if key < keys else -1


@kernel
def advance(
    arrays: FrontierArrays,
    part: PartArrays,
    states: States,
    shape: Ints,
    place: Ints,
    order: Ints,
    scratch: Ints,
    uses: Ints,
    last_event: int,
    steps: int,
) -> int:
    """Go on for about `steps` steps; return why it stopped.

    How many steps the search takes to its end does not depend on where it stopped in between. An event is one step, and
    so is each operation tried.

    Parameters
    ----------
    arrays, part, states : FrontierArrays, PartArrays and States
        The frontier, what it searches, and the store of states.
    shape : int64[SHAPE_FIELDS]
        The shape of a state.
    place : int64[n]
        The slot of each operation in flight.
    order : int64[n]
        Receives the operations as their order becomes certain.
    scratch : int64[...]
        Room for the values of all keys, or for a list.
    uses : int64[nodes]
        Until which event each text matters; empty if states are no texts.
    last_event : int
        Where the part's events end.
    steps : int
        How many steps.
    """
    control, flight, owner, lost_owner, twins, configurations, kept, table, log = arrays
    events, return_, rows, contents, pieces = part
    nodes, slots, size = states
    texts = len(uses) > 0
    stop_at = control[STEPS] + steps
    depth = shape[DEPTH]
    growth = control[GROWTH]
    weight = 1 + (growth >> 6)
    while control[EVENT] < last_event:
        event = events[control[EVENT]]
        operation = event >> 1
        if event & 1 == 0:
            if rows[operation, 0] == SNAPSHOT and rows[operation, 4] >= 0:
                if size[0] + 2 * len(scratch) > len(nodes):
                    return MORE_NODES
                _fill(scratch, contents, rows[operation, 4], shape[KEYS], depth)
                rows[operation, 4] = build(nodes, slots, size, depth, scratch)
            if not arrive(
                flight, owner, lost_owner, twins, place, rows, operation, return_[operation] == NEVER_RETURNS
            ):
                return CROWDED
            control[STEPS] += 1
            control[EVENT] += 1
            continue
        slot = place[operation]
        returning = int64(1) << slot
        active, reads = flight[ACTIVE], flight[READS]
        if control[CLOSING] == 0:
            if control[STEPS] >= stop_at:
                return SLICE
            missing = 0
            for i in range(control[FILLED]):
                if configurations[i, LIVE] & returning == 0:
                    missing += 1
            if missing == 0:
                for i in range(control[FILLED]):
                    configurations[i, LIVE] &= ~returning
                leave(control, flight, returning)
                continue
            if 2 * control[FILLED] > len(configurations):
                return MORE_CONFIGURATIONS
            if control[LOGGED] + SLOTS * control[FILLED] > len(log):
                return MORE_LOG
            control[CLOSING] = 1
            control[BASE] += len(configurations)
            control[AT] = 0
            control[KEPT] = 0
            flight[SAME_KEY] = 0
            if depth > 0:
                waiting = active
                while waiting != 0:
                    lowest = lowest_bit(waiting)
                    bit = int64(1) << lowest
                    waiting &= ~bit
                    if rows[owner[lowest], 1] == rows[operation, 1]:
                        flight[SAME_KEY] |= bit
            old = control[FILLED]
            control[FILLED] = 0
            for i in range(old):
                live, used = configurations[i, LIVE], configurations[i, USED]
                state, path = configurations[i, STATE], configurations[i, PATH]
                settled = _settle(nodes, shape, rows, owner, reads, live, state)
                if texts:
                    state = seen_as(uses, state, control[EVENT])
                add(control, configurations, table, log, owner, live, settled, used, state, path, -1)
        keyed = depth > 0 and not SNAPSHOT <= rows[operation, 0] <= CLEAR
        while control[AT] < control[FILLED]:
            if control[STEPS] >= stop_at:
                return SLICE
            if control[FILLED] + 2 * SLOTS > len(configurations):
                return MORE_CONFIGURATIONS
            if control[LOGGED] + 2 * SLOTS * (SLOTS + 1) > len(log):
                return MORE_LOG
            at = control[AT]
            if growth == OF_LIST:
                held = length(nodes, configurations[at, STATE]) + 2
                weight = held
                if size[0] + 2 * SLOTS * held > len(nodes):
                    return MORE_NODES
            elif not texts and size[0] + 2 * SLOTS * growth > len(nodes):
                return MORE_NODES
            control[AT] = at + 1
            live, used = configurations[at, LIVE], configurations[at, USED]
            state, path = configurations[at, STATE], configurations[at, PATH]
            if live & returning != 0:
                for column in range(COLUMNS):
                    kept[control[KEPT], column] = configurations[at, column]
                kept[control[KEPT], LIVE] = live & ~returning
                control[KEPT] += 1
                continue
            whole = depth > 0 and (flight[WHOLE] & ~live | flight[WHOLE_LOST] & ~used) != 0
            waiting = active & ~reads & ~live
            while waiting != 0:
                lowest = lowest_bit(waiting)
                bit = int64(1) << lowest
                waiting &= ~bit
                other_key = depth > 0 and not (keyed and flight[SAME_KEY] & bit != 0)
                if other_key and not (whole and _useful(nodes, shape, rows, owner, flight, live, used, state, lowest)):
                    continue
                mine = owner[lowest]
                control[STEPS] += weight
                legal, value = judge(nodes, shape, rows, mine, state)
                if legal:
                    following = _follow(
                        nodes, slots, size, shape, rows, mine, state, value, pieces, scratch, uses, control[EVENT]
                    )
                    done = live | bit
                    settled = _settle(nodes, shape, rows, owner, reads, done, following)
                    add(control, configurations, table, log, owner, done, settled, used, following, path, mine)
            waiting = flight[LOST] & ~used
            while waiting != 0:
                lowest = lowest_bit(waiting)
                bit = int64(1) << lowest
                waiting &= ~bit
                if twins[lowest] & ~used != 0:
                    continue
                mine = lost_owner[lowest]
                if keyed and not whole and rows[mine, 1] != rows[operation, 1]:
                    continue
                control[STEPS] += weight
                legal, value = judge(nodes, shape, rows, mine, state)
                if legal:
                    following = _follow(
                        nodes, slots, size, shape, rows, mine, state, value, pieces, scratch, uses, control[EVENT]
                    )
                    if following != state:
                        settled = _settle(nodes, shape, rows, owner, reads, live, following)
                        add(
                            control, configurations, table, log, owner, live, settled, used | bit, following, path, mine
                        )
        if control[KEPT] == 0:
            return BLOCKED
        for i in range(control[KEPT]):
            for column in range(COLUMNS):
                configurations[i, column] = kept[i, column]
        control[FILLED] = control[KEPT]
        if control[FILLED] == 1:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order, control[WRITTEN])
            configurations[0, PATH] = -1
            control[LOGGED] = 0
        leave(control, flight, returning)
        if flight[ACTIVE] == 0 and control[FILLED] == 1:
            control[ORIGIN] = control[EVENT]
            control[ORIGIN_STATE] = configurations[0, STATE]
            control[ORIGIN_USED] = configurations[0, USED]
            control[ORIGIN_WRITTEN] = control[WRITTEN]
    return DONE
