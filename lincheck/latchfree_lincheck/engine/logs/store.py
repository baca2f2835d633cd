"""The log of a key-value store, as Porcupine's tests have them, from bytes to verdict.

The lines are those of `formats.usual.read_store`. Each key is a part, searched just in time as `frontier.search` does;
the texts that occur are states of a store, so that a text is put or read by its number.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, APPEND, GET, PUT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import States, cons, mix
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
    COLUMNS,
    DROPPED,
    FAILED,
    INVOKE,
    INVOKED,
    LOST,
    OK,
    OPEN,
    PROCESS,
    RESULT,
    RETURN,
    RETURNED,
    SIZE,
    STATE,
    SUCCEEDED,
    UNSEEN,
    UNUSUAL,
    VIOLATION,
    A,
    B,
    Bytes,
    C,
    D,
    F,
    count_lines,
    kind_at,
    lose_open,
    number_at,
    place_of,
    starts,
    table_for,
    word,
)
from latchfree_lincheck.engine.logs.told import HELD, OPERATIONS, PARTIAL, TOLD, tell_running
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

_HEAD: Final = word(b"{:process ")
_TYPE: Final = word(b", :type ")
_GET: Final = word(b", :f :get, ")
_PUT: Final = word(b", :f :put, ")
_APPEND: Final = word(b", :f :append, ")
_KEY: Final = word(b":key ")
_VALUE: Final = word(b", :value ")
_NIL: Final = word(b"nil")
_END: Final = word(b"}\n")
_QUOTE: Final = 34
_BACKSLASH: Final = 92
_COLON: Final = 58
_FIRST_PRINTED: Final = 32
_LAST_PRINTED: Final = 126

#: As B, D or SIZE, the length of a text: there is none.
NONE: Final = -1

TURN: Final = 40_000
"""Steps for a key. A search in competition takes more in its first turn."""
CONFIGURATIONS: Final = 1 << 11
LOG: Final = 1 << 16
_NODES: Final = 1 << 13
_FEW_NODES: Final = 1 << 10
"""Room for configurations, paths and nodes, of these at least. Most keys need few nodes."""


@kernel
def text_at(text: Bytes, at: int) -> tuple[int, int, int]:
    """Return where a text in quotes begins, its length, and where it ends; -1 if there is none, or it is unusual.

    A colon is unusual: a text may look like something else of a log.
    """
    if at >= len(text) or text[at] != _QUOTE:
        return 0, 0, -1
    end = at + 1
    while end < len(text) and text[end] != _QUOTE:
        if not _FIRST_PRINTED <= text[end] <= _LAST_PRINTED or text[end] == _BACKSLASH or text[end] == _COLON:
            return 0, 0, -1
        end += 1
    if end >= len(text):
        return 0, 0, -1
    return at + 1, end - at - 1, end + 1


@kernel
def same_text(text: Bytes, one: int, other: int, size: int) -> bool:
    """Return whether two stretches of a text are equal."""
    i = 0
    while i < size and text[one + i] == text[other + i]:
        i += 1
    return i == size


@kernel
def function_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the opcode of a line, and where its key begins; -1 if it is none."""
    if starts(text, at, _GET):
        return GET, at + len(_GET)
    if starts(text, at, _PUT):
        return PUT, at + len(_PUT)
    if starts(text, at, _APPEND):
        return APPEND, at + len(_APPEND)
    return 0, -1


@kernel
def line_at(text: Bytes, at: int, line: Ints) -> int:
    """Read a line into a row of a call, but for its times; RESULT gets its type. Return where the next one begins."""
    if not starts(text, at, _HEAD):
        return -1
    process, at = number_at(text, at + len(_HEAD))
    if at < 0 or not starts(text, at, _TYPE):
        return -1
    kind, at = kind_at(text, at + len(_TYPE))
    if at < 0:
        return -1
    f, at = function_at(text, at)
    if at < 0 or not starts(text, at, _KEY):
        return -1
    key, key_size, at = text_at(text, at + len(_KEY))
    if at < 0 or not starts(text, at, _VALUE):
        return -1
    at += len(_VALUE)
    value, size = int64(0), int64(NONE)
    if starts(text, at, _NIL):
        at += len(_NIL)
    else:
        value, size, at = text_at(text, at)
        if at < 0:
            return -1
    if not starts(text, at, _END):
        return -1
    line[PROCESS], line[F], line[RESULT] = process, f, kind
    line[A], line[B], line[C], line[D] = key, key_size, value, size
    return int(at + len(_END))


@kernel
def read_log(text: Bytes, calls: Ints, events: Ints, found: Ints) -> bool:
    """Read all lines; `found` gets the number of calls and of events. Return False if a line is unusual."""
    table, line = table_for(len(calls)), np.zeros(COLUMNS, np.int64)
    count, ended, time, at = 0, 0, 0, 0
    while at < len(text):
        at = line_at(text, at, line)
        if at < 0:
            return False
        f, kind = line[F], line[RESULT]
        place = place_of(table, calls, line[PROCESS])
        latest = table[place] - 1
        if kind == INVOKED:
            if latest >= 0 and (calls[latest, STATE] == OPEN or calls[latest, STATE] == LOST):
                return False
            if f != GET and line[D] == NONE:
                return False
            time += 1
            for column in range(COLUMNS):
                calls[count, column] = line[column]
            calls[count, RESULT], calls[count, SIZE] = 0, NONE
            calls[count, STATE], calls[count, INVOKE] = OPEN, time
            table[place] = count + 1
            events[ended] = 2 * count
            ended += 1
            count += 1
            continue
        if latest < 0 or calls[latest, STATE] != OPEN or calls[latest, F] != f:
            return False
        if kind == UNSEEN:
            calls[latest, STATE] = LOST
        elif kind == FAILED:
            calls[latest, STATE] = DROPPED
        elif kind == SUCCEEDED:
            mine = calls[latest, B] == line[B] and same_text(text, calls[latest, A], line[A], line[B])
            if not mine or line[D] == NONE:
                return False
            if f == GET:
                calls[latest, RESULT], calls[latest, SIZE] = line[C], line[D]
            elif calls[latest, D] != line[D] or not same_text(text, calls[latest, C], line[C], line[D]):
                return False
            time += 1
            calls[latest, STATE], calls[latest, RETURN] = RETURNED, time
            events[ended] = 2 * latest + 1
            ended += 1
    found[0], found[1] = count, ended
    return True


@kernel
def number_keys(text: Bytes, calls: Ints, count: int, part: Ints) -> int:
    """Give the keys of calls that are not dropped numbers; return how many keys there are."""
    table = table_for(count)
    mask = np.uint64(len(table) - 1)
    keys = 0
    for call in range(count):
        part[call] = -1
        if calls[call, STATE] == DROPPED:
            continue
        mixed = np.uint64(0)
        for i in range(calls[call, B]):
            mixed = mix(int64(mixed), text[calls[call, A] + i])
        at = mixed & mask
        while table[at] != 0:
            other = table[at] - 1
            if calls[other, B] == calls[call, B] and same_text(text, calls[other, A], calls[call, A], calls[call, B]):
                break
            at = (at + np.uint64(1)) & mask
        if table[at] == 0:
            table[at] = call + 1
            part[call] = keys
            keys += 1
        else:
            part[call] = part[table[at] - 1]
    return keys


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
