"""The log of a key-value store, as Porcupine's tests have them, from bytes to verdict.

The lines are read by `store_lines`. Each key is a part, searched just in time as `frontier.search` does; the texts that
occur are states of a store, so that a text is put or read by its number.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, APPEND, GET, PUT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import States, cons
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, EMPTY, KEYS, PartArrays, Rows
from latchfree_lincheck.engine.frontier.kernels.advance import advance
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    DONE,
    EVENT,
    FILLED,
    GROWTH,
    WRITTEN,
    FrontierArrays,
    longest,
    start,
    write_path,
)
from latchfree_lincheck.engine.frontier.kernels.lookahead import last_uses
from latchfree_lincheck.engine.logs.frontiers import cleared
from latchfree_lincheck.engine.logs.lines import (
    OK,
    RESULT,
    RETURN,
    RETURNED,
    SIZE,
    STATE,
    UNUSUAL,
    VIOLATION,
    Bytes,
    C,
    D,
    F,
    count_lines,
    lose_open,
)
from latchfree_lincheck.engine.logs.store_lines import NONE, number_keys, read_log
from latchfree_lincheck.engine.logs.told import HELD, OPERATIONS, PARTIAL, TOLD, tell_running
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

TURN: Final = 40_000
"""Steps for a key. A search in competition takes more in its first turn."""
CONFIGURATIONS: Final = 1 << 11
LOG: Final = 1 << 16
_NODES: Final = 1 << 13
_FEW_NODES: Final = 1 << 10
"""Room for configurations, paths and nodes, of these at least. Most keys need few nodes."""


@kernel
def number_text(text: Bytes, at: int, size: int, states: States, path: Ints, latest: Ints) -> int:
    """Return the state of a text, or -2 if there is no room.

    The text goes on from what it has in common with the `latest` one, whose states are in `path`.
    """
    nodes, slots, nodes_size = states
    if size == 0:
        return ABSENT
    common, most = 0, min(size, latest[1])
    while common < most and text[at + common] == text[latest[0] + common]:
        common += 1
    if nodes_size[0] + size - common > len(nodes):
        return -2
    state = path[common - 1] if common > 0 else int64(ABSENT)
    for i in range(common, size):
        state = int64(cons(nodes, slots, nodes_size, state, text[at + i]))
        path[i] = state
    latest[0], latest[1] = at, size
    return int(state)


@kernel
def emptied(store: States, room: int) -> States:
    """Return a part of the store that has no nodes, and room for that many."""
    states = States(store.nodes[:room], store.slots[: 2 * room], store.size)
    states.size[0] = 0
    states.slots[:] = 0
    return states


@kernel
def fill_rows(
    text: Bytes, calls: Ints, members: Ints, rows: Rows, pieces: Ints, states: States, path: Ints
) -> tuple[int, int]:
    """Write the calls of a key as rows of the compiled models.

    Return how many texts are put or read, not counting the empty one, or -1 if there is no room for their states; and
    the length of the longest text that is appended.
    """
    latest = np.zeros(2, np.int64)
    texts, written, growth = 0, 0, 0
    for row in range(len(members)):
        call = members[row]
        f = calls[call, F]
        rows[row, 0], rows[row, 1] = f, 0
        rows[row, 2], rows[row, 3], rows[row, 4] = ABSENT, ABSENT, UNKNOWN_RESULT
        at, size = calls[call, C], calls[call, D]
        if f == APPEND:
            for i in range(size):
                pieces[written + i] = text[at + i]
            rows[row, 2], rows[row, 3] = written, size
            written += size
            growth = max(growth, size)
            continue
        if f == GET:
            at, size = calls[call, RESULT], calls[call, SIZE]
        if size > 0:
            texts += 1
        if size != NONE:
            state = number_text(text, at, size, states, path, latest)
            if state < ABSENT:
                return -1, 0
            rows[row, 2 if f == PUT else 4] = state
    return texts, int(growth)


@kernel
def judge_key(
    part: PartArrays,
    states: States,
    texts: int,
    growth: int,
    frontier: FrontierArrays,
    place: Ints,
    order: Ints,
    shape: Ints,
    scratch: Ints,
    room: Ints,
) -> int:
    """Search the calls of a key; return DONE, BLOCKED, or what stopped the search.

    Parameters
    ----------
    part, states : PartArrays and States
        The calls, and the states of the texts.
    texts, growth : int
        See `fill_rows`.
    frontier : FrontierArrays
        Its tables.
    place, order : int64[n]
        The slot of each call, and the order that was found.
    shape, scratch, room : int64[3], int64[growth] and int64[nodes]
        Memory.
    """
    uses = room[: states.size[0] if texts > 0 else 0]
    uses[:] = -1
    if texts > 0:
        last_uses(uses, states.nodes, part.events, part.return_, part.rows)
    shape[DEPTH], shape[KEYS], shape[EMPTY] = 0, 1, ABSENT
    frontier.control[GROWTH] = growth
    start(frontier.control, frontier.flight, frontier.configurations, ABSENT, 0)
    return advance(frontier, part, states, shape, place, order, scratch, uses, len(part.events), TURN)


@kernel
def write_held(text: Bytes, calls: Ints, order: Ints, held: Bytes) -> int:
    """Write what a key holds after calls in an order; return its length."""
    size = 0
    for call in order:
        if calls[call, F] == PUT:
            size = 0
        if calls[call, F] != GET:
            for i in range(calls[call, D]):
                held[size + i] = text[calls[call, C] + i]
            size += calls[call, D]
    return size


@kernel
def judge_store_log(
    text: Bytes, told: Ints, given: FrontierArrays, calls: Ints, rows: Rows, work: Ints, store: States, held: Bytes
) -> int:
    """Judge a log; return OK, VIOLATION or UNUSUAL.

    Parameters
    ----------
    text : uint8[n]
        The log.
    told : int64[TOLD]
        Receives how many operations there are; of a violation how many are in the longest order, the length of what
        the key holds after them, how many calls are shown, and these calls.
    given, calls, rows, work, store : FrontierArrays, int64[m, COLUMNS], int32[m, 5], int64[w] and States
        Memory, for logs of up to m lines.
    held : uint8[n]
        Receives what the key holds.
    """
    lines = count_lines(text)
    if lines == 0 or len(told) != TOLD or len(held) < len(text) or lines > min(len(calls), len(rows)):
        return UNUSUAL
    events, found = np.empty(lines, np.int64), np.empty(2, np.int64)
    if not read_log(text, calls, events, found):
        return UNUSUAL
    count = lose_open(calls, found[0])
    if count == 0:
        return UNUSUAL
    part, written = np.empty(found[0], np.int64), np.zeros(found[0], np.int64)
    keys = number_keys(text, calls, found[0], part)
    # The calls of each key, by the time of the call, and its events.
    bounds, event_bounds = np.zeros(keys + 1, np.int64), np.zeros(keys + 1, np.int64)
    largest = 1
    for call in range(found[0]):
        if part[call] >= 0:
            bounds[part[call] + 1] += 1
            event_bounds[part[call] + 1] += 2 if calls[call, STATE] == RETURNED else 1
            if calls[call, F] != GET:
                written[part[call]] += calls[call, D]
            largest = max(largest, calls[call, D], calls[call, SIZE])
    most = 0
    for key in range(keys):
        most = max(most, written[key])
        bounds[key + 1] += bounds[key]
        event_bounds[key + 1] += event_bounds[key]
    room = _NODES
    while room < _NODES + 2 * most + largest:
        room *= 2
    if room > len(store.nodes) or 2 * room > len(store.slots) or 4 * lines + 3 + largest + most + room > len(work):
        return UNUSUAL
    members, number = np.empty(count, np.int64), np.empty(found[0], np.int64)
    mine, last = work[: event_bounds[keys]], work[lines : lines + count]
    slots, order = work[2 * lines : 2 * lines + count], work[3 * lines : 3 * lines + count]
    shape, rest = work[4 * lines : 4 * lines + 3], work[4 * lines + 3 :]
    scratch, pieces, seen = rest[:largest], rest[largest : largest + most], rest[largest + most :]
    last[:] = NEVER_RETURNS
    next_call, next_event = bounds[:keys].copy(), event_bounds[:keys].copy()
    for at in range(found[1]):
        call = events[at] >> 1
        key = part[call]
        if key < 0:
            continue
        if events[at] & 1 == 0:
            members[next_call[key]] = call
            number[call] = next_call[key] - bounds[key]
            next_call[key] += 1
        else:
            last[bounds[key] + number[call]] = next_event[key] - event_bounds[key]
        mine[next_event[key]] = 2 * number[call] + (events[at] & 1)
        next_event[key] += 1
    few = _FEW_NODES
    while few < _FEW_NODES + 2 * most + largest:
        few *= 2
    frontier = cleared(given, CONFIGURATIONS, LOG)
    path, worst_order = np.empty(largest, np.int64), np.empty(count, np.int64)
    worst, longest_order = int64(-1), int64(0)
    for key in range(keys):
        low, high = bounds[key], bounds[key + 1]
        states = emptied(store, few)
        texts, growth = fill_rows(text, calls, members[low:high], rows[low:high], pieces, states, path)
        if texts <= 0 and few < room:  # there is no room, or texts that nobody reads will take it
            states = emptied(store, room)
            texts, growth = fill_rows(text, calls, members[low:high], rows[low:high], pieces, states, path)
        if texts < 0:
            return UNUSUAL
        its_events = mine[event_bounds[key] : event_bounds[key + 1]]
        its = PartArrays(its_events, last[low:high], rows[low:high], given.kept[:0], pieces)
        why = judge_key(its, states, texts, growth, frontier, slots, order, shape, scratch, seen)
        if why == DONE:
            continue
        if why != BLOCKED:
            return UNUSUAL
        call = members[low + (its.events[frontier.control[EVENT]] >> 1)]
        if worst < 0 or calls[call, RETURN] < calls[worst, RETURN]:
            end = longest(frontier.configurations, frontier.control[FILLED], frontier.log)
            worst, longest_order = call, write_path(frontier.log, end, order, frontier.control[WRITTEN])
            for at in range(longest_order):
                worst_order[at] = members[low + order[at]]
    told[OPERATIONS] = count
    if worst < 0:
        return OK
    told[PARTIAL] = longest_order
    told[HELD] = write_held(text, calls, worst_order[:longest_order], held)
    low, high = bounds[part[worst]], bounds[part[worst] + 1]
    tell_running(calls, members[low:high], worst, told)
    return VIOLATION
