"""The log of a cas-register, as the etcd test of Jepsen prints it, from bytes to verdict.

The lines are those of `formats.usual.read_register`, the search is that of `frontier.sweep`. A value is its own number.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, GET, PUT, REPLACE_IF, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import States
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, EMPTY, KEYS, PartArrays, Rows
from latchfree_lincheck.engine.frontier.kernels.advance import advance
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    DONE,
    EVENT,
    FILLED,
    STEPS,
    WRITTEN,
    FrontierArrays,
    longest,
    start,
    write_path,
)
from latchfree_lincheck.engine.frontier.kernels.sweep import LEAST, PATIENCE
from latchfree_lincheck.engine.logs.frontiers import cleared
from latchfree_lincheck.engine.logs.lines import (
    COLUMNS,
    DROPPED,
    FORM,
    INVOKE,
    INVOKED,
    LOST,
    NEWLINE,
    OK,
    OPEN,
    PROCESS,
    RESULT,
    RETURN,
    RETURNED,
    STATE,
    SUCCEEDED,
    UNSEEN,
    UNUSUAL,
    VIOLATION,
    A,
    B,
    Bytes,
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
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

_HEAD: Final = word(b"INFO  jepsen.util - ")
_READ: Final = word(b"\t:read\t")
_WRITE: Final = word(b"\t:write\t")
_CAS: Final = word(b"\t:cas\t")
_NIL: Final = word(b"nil\n")
_TIMED_OUT: Final = word(b":timed-out\n")

# As F.
READ: Final = 0
WRITE: Final = 1
CAS: Final = 2

# The forms of values, as FORM.
NIL: Final = 0
GONE: Final = 1
NUMBER: Final = 2
PAIR: Final = 3

_LARGEST: Final = (1 << 31) - 1
_OPENING: Final = 91
_CLOSING: Final = 93
_BLANK: Final = 32

#: Room for configurations, paths and nodes: that of `frontier.search.Tables` at the beginning.
CONFIGURATIONS: Final = 512
LOG: Final = 1 << 14
TURN: Final = 50_000
"""A violation that takes more steps is searched for by engines in competition."""


@kernel
def value_at(text: Bytes, at: int) -> tuple[int, int, int, int]:
    """Return the form of the value at the end of a line, its numbers, and where the next line begins; or -1 there."""
    if starts(text, at, _NIL):
        return NIL, ABSENT, 0, at + len(_NIL)
    if starts(text, at, _TIMED_OUT):
        return GONE, ABSENT, 0, at + len(_TIMED_OUT)
    if at < len(text) and text[at] == _OPENING:
        a, at = number_at(text, at + 1)
        if at < 0 or at >= len(text) or text[at] != _BLANK:
            return 0, 0, 0, -1
        b, at = number_at(text, at + 1)
        if at < 0 or at + 1 >= len(text) or text[at] != _CLOSING or text[at + 1] != NEWLINE:
            return 0, 0, 0, -1
        return PAIR, a, b, at + 2 if a <= _LARGEST and b <= _LARGEST else -1
    a, at = number_at(text, at)
    if at < 0 or at >= len(text) or text[at] != NEWLINE or a > _LARGEST:
        return 0, 0, 0, -1
    return NUMBER, a, 0, at + 1


@kernel
def function_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the function of a line, and where its value begins; -1 if it is none."""
    if starts(text, at, _READ):
        return READ, at + len(_READ)
    if starts(text, at, _WRITE):
        return WRITE, at + len(_WRITE)
    if starts(text, at, _CAS):
        return CAS, at + len(_CAS)
    return 0, -1


@kernel
def returns(calls: Ints, call: int, kind: int, form: int, a: int, b: int) -> bool:
    """Note how a call ended, but for the time; return False if no such call ends so."""
    f = calls[call, F]
    same = calls[call, FORM] == form and calls[call, A] == a and calls[call, B] == b
    if kind == UNSEEN:
        calls[call, STATE] = LOST
    elif kind == SUCCEEDED:
        if f == READ:
            if form != NIL and form != NUMBER:
                return False
            calls[call, RESULT] = a
        elif not same:
            return False
        else:
            calls[call, RESULT] = 1
        calls[call, STATE] = RETURNED
    elif f == CAS and form == PAIR:
        if not same:
            return False
        calls[call, RESULT] = 0
        calls[call, STATE] = RETURNED
    else:
        calls[call, STATE] = DROPPED
    return True


@kernel
def read_log(text: Bytes, calls: Ints, events: Ints, found: Ints) -> bool:
    """Read all lines; `found` gets the number of calls and of events. Return False if a line is unusual."""
    table = table_for(len(calls))
    count, ended, time, at = 0, 0, 0, 0
    while at < len(text):
        if not starts(text, at, _HEAD):
            return False
        process, at = number_at(text, at + len(_HEAD))
        if at < 0 or at >= len(text) or text[at] != 9:
            return False
        kind, at = kind_at(text, at + 1)
        if at < 0:
            return False
        f, at = function_at(text, at)
        if at < 0:
            return False
        form, a, b, at = value_at(text, at)
        if at < 0:
            return False
        place = place_of(table, calls, process)
        latest = table[place] - 1
        if kind == INVOKED:
            if latest >= 0 and (calls[latest, STATE] == OPEN or calls[latest, STATE] == LOST):
                return False
            if form != (NIL if f == READ else NUMBER if f == WRITE else PAIR):
                return False
            time += 1
            for column in range(COLUMNS):
                calls[count, column] = 0
            calls[count, PROCESS], calls[count, F], calls[count, FORM] = process, f, form
            calls[count, A], calls[count, B] = a, b
            calls[count, STATE], calls[count, INVOKE] = OPEN, time
            table[place] = count + 1
            events[ended] = 2 * count
            ended += 1
            count += 1
            continue
        if latest < 0 or calls[latest, STATE] != OPEN or calls[latest, F] != f:
            return False
        if not returns(calls, latest, kind, form, a, b):
            return False
        if calls[latest, STATE] == RETURNED:
            time += 1
            calls[latest, RETURN] = time
            events[ended] = 2 * latest + 1
            ended += 1
    found[0], found[1] = count, ended
    return True


@kernel
def fill_row(calls: Ints, call: int, rows: Rows, row: int) -> None:
    """Write a call as a row of the compiled models."""
    f = calls[call, F]
    lost = calls[call, STATE] == LOST
    rows[row, 0] = GET if f == READ else PUT if f == WRITE else REPLACE_IF
    rows[row, 1] = 0
    rows[row, 2] = ABSENT if f == READ else calls[call, A]
    rows[row, 3] = calls[call, B] if f == CAS else ABSENT
    rows[row, 4] = UNKNOWN_RESULT if lost or f == WRITE else calls[call, RESULT]


@kernel
def held_after(rows: Rows, order: Ints, count: int) -> int:
    """Return what the register holds after the first operations of an order."""
    held = ABSENT
    for place in range(count):
        row = order[place]
        if rows[row, 0] == PUT or (rows[row, 0] == REPLACE_IF and rows[row, 2] == held):
            held = int(rows[row, 2] if rows[row, 0] == PUT else rows[row, 3])
    return held


@kernel
def judge_register_log(text: Bytes, told: Ints, given: FrontierArrays, calls: Ints, rows: Rows, work: Ints) -> int:
    """Judge a log; return OK, VIOLATION or UNUSUAL.

    Parameters
    ----------
    text : uint8[n]
        The log.
    told : int64[TOLD]
        Receives how many operations there are; of a violation how many are in the longest order, what the register
        holds after them, -1 for nothing, how many calls are shown, and these calls.
    given, calls, rows, work : FrontierArrays, int64[m, COLUMNS], int32[m, 5] and int64[5 * m + 8]
        Memory, for logs of up to m lines.
    """
    lines = count_lines(text)
    if lines == 0 or len(told) != TOLD or lines > min(len(calls), len(rows)) or 5 * lines + 8 > len(work):
        return UNUSUAL
    events, found = np.empty(lines, np.int64), np.empty(2, np.int64)
    if not read_log(text, calls, events, found):
        return UNUSUAL
    count = lose_open(calls, found[0])
    if count == 0:
        return UNUSUAL
    kept, number = np.empty(count, np.int64), np.empty(found[0], np.int64)
    mine, last = work[:lines], work[lines : lines + count]
    place_in, order = work[2 * lines : 2 * lines + count], work[3 * lines : 3 * lines + count]
    shape, scratch, size, none = work[4 * lines : 4 * lines + 3], work[-1:], work[-2:-1], work[:0]
    row = 0
    for call in range(found[0]):
        number[call] = row
        if calls[call, STATE] != DROPPED:
            kept[row] = call
            last[row] = NEVER_RETURNS
            fill_row(calls, call, rows, row)
            row += 1
    ended = 0
    for place in range(found[1]):
        call = events[place] >> 1
        if calls[call, STATE] != DROPPED:
            mine[ended] = 2 * number[call] + (events[place] & 1)
            if events[place] & 1 == 1:
                last[number[call]] = ended
            ended += 1
    shape[DEPTH], shape[KEYS], shape[EMPTY], size[0] = 0, 1, ABSENT, 0
    frontier = cleared(given, CONFIGURATIONS, LOG)
    control = frontier.control
    start(control, frontier.flight, frontier.configurations, ABSENT, 0)
    part = PartArrays(mine[:ended], last, rows[:count], given.kept[:0], none)
    states = States(given.kept[:1], none, size)
    most = PATIENCE * count + LEAST
    why = advance(frontier, part, states, shape, place_in, order, scratch, none, ended, most)
    told[OPERATIONS] = count
    if why == DONE:
        return OK
    if why != BLOCKED or control[STEPS] >= TURN:
        return UNUSUAL
    failing = kept[mine[control[EVENT]] >> 1]
    path = longest(frontier.configurations, control[FILLED], frontier.log)
    told[PARTIAL] = write_path(frontier.log, path, order, control[WRITTEN])
    told[HELD] = held_after(rows, order, told[PARTIAL])
    tell_running(calls, kept, failing, told)
    return VIOLATION
