"""Histories of Jepsen in EDN, from bytes to calls.

Example: ``{:type :ok, :f :read, :value 3, :process 1, :time 7, :index 2}``, its fields in any order. The lines are
those of `formats.jepsen_edn`; what they mean is in `formats.jepsen_events` and `formats.meanings`. Lines of the nemesis
are passed over.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.functions import CAS_REGISTER, MUTEX, QUEUE, REGISTER, STACK
from latchfree_lincheck.engine.logs.lines import (
    COLUMNS,
    DROPPED,
    FAILED,
    INVOKE,
    INVOKED,
    LOST,
    NEWLINE,
    OPEN,
    PROCESS,
    RESULT,
    RETURN,
    RETURNED,
    STATE,
    SUCCEEDED,
    UNSEEN,
    A,
    B,
    Bytes,
    C,
    D,
    F,
    count_lines,
    kind_at,
    number_at,
    starts,
    table_for,
    word,
)
from latchfree_lincheck.engine.logs.nested import ROOM, keyword_at, nested_end
from latchfree_lincheck.engine.logs.tokens import (
    NO_TOKEN,
    NULL,
    TRUE,
    is_word,
    number_of,
    number_token,
    same_token,
    scalar_token,
    text_token,
    words,
)
from latchfree_lincheck.history.timeline import Ints

_PROCESS: Final = word(b":process ")
_TYPE: Final = word(b":type ")
_F: Final = word(b":f ")
_VALUE: Final = word(b":value ")
_TIME: Final = word(b":time ")
_INDEX: Final = word(b":index ")
_ERROR: Final = word(b":error ")
_NEMESIS: Final = word(b":nemesis")
_NIL: Final = word(b"nil")

_IS_PROCESS: Final = 1
_IS_TYPE: Final = 2
_IS_F: Final = 4
_IS_VALUE: Final = 8
_IS_TIME: Final = 16
_IS_INDEX: Final = 32
_IS_ERROR: Final = 64
_NEEDED: Final = _IS_PROCESS | _IS_TYPE | _IS_F | _IS_VALUE

_BLANK: Final = 32
_COMMA: Final = 44
_COLON: Final = 58
_OPENING: Final = 91
_CLOSING: Final = 93
_BEGIN: Final = 123
_END: Final = 125

#: In place of a token: a value that only calls that have failed or were lost, and the nemesis, may have.
NAME: Final = -5
#: As process: that of the faults.
NEMESIS: Final = -2

# The functions, in an order in which those of a model are neighbours.
READ: Final = 0
WRITE: Final = 1
CAS: Final = 2
ACQUIRE: Final = 3
RELEASE: Final = 4
ENQUEUE: Final = 5
DEQUEUE: Final = 6
PUSH: Final = 7
POP: Final = 8
_NAMES, _ENDS = words(("read", "write", "cas", "acquire", "release", "enqueue", "dequeue", "push", "pop"))

# The columns of a line.
WHO: Final = 0
TYPE: Final = 1
FUNCTION: Final = 2
NAMED: Final = 3
VALUE: Final = 4
OTHER: Final = 5
PAIR: Final = 6
INDEX: Final = 7
_LINE: Final = 8


@kernel
def value_at(text: Bytes, at: int, line: Ints) -> int:
    """Read a value into a line: nil, a number, a text, a pair of these, or another one; return where it ends, or -1."""
    line[PAIR], line[OTHER] = 0, NO_TOKEN
    if starts(text, at, _NIL):
        line[VALUE] = NULL
        return at + len(_NIL)
    if at < len(text) and text[at] == _COLON:
        line[VALUE] = NAME
        _, at = keyword_at(text, at)
        return at
    end = pair_at(text, at, line)
    if end < 0:
        end = nested_end(text, at, line[_LINE:])
        line[PAIR], line[VALUE] = 0, NAME
    if end < 0:
        line[VALUE], end = scalar_token(text, at, False)
    return int(end)


@kernel
def pair_at(text: Bytes, at: int, line: Ints) -> int:
    """Read ``[a b]`` into a line; return where it ends, or -1."""
    if at >= len(text) or text[at] != _OPENING:
        return -1
    line[PAIR] = 1
    line[VALUE], at = scalar_token(text, at + 1, False)
    if at < 0 or at >= len(text) or text[at] != _BLANK:
        return -1
    line[OTHER], at = scalar_token(text, at + 1, False)
    if at < 0 or at >= len(text) or text[at] != _CLOSING:
        return -1
    return at + 1


@kernel
def function_of(text: Bytes, token: int) -> int:
    """Return the number of the function that a token names, or -1."""
    for function in range(len(_ENDS) - 1):
        if is_word(text, token, _NAMES, _ENDS[function], _ENDS[function + 1]):
            return function
    return -1


@kernel
def field_at(text: Bytes, at: int, line: Ints) -> tuple[int, int]:
    """Read a field into a line; return its bit and where it ends, -1 there if it is unusual."""
    if starts(text, at, _VALUE):
        return _IS_VALUE, value_at(text, at + len(_VALUE), line)
    if starts(text, at, _TYPE):
        line[TYPE], at = kind_at(text, at + len(_TYPE))
        return _IS_TYPE, at
    if starts(text, at, _F):
        line[NAMED], at = keyword_at(text, at + len(_F))
        return _IS_F, at
    if starts(text, at, _PROCESS):
        at += len(_PROCESS)
        if starts(text, at, _NEMESIS):
            line[WHO] = NEMESIS
            return _IS_PROCESS, at + len(_NEMESIS)
        line[WHO], at = number_token(text, at)
        return _IS_PROCESS, at
    if starts(text, at, _TIME):
        _, at = number_token(text, at + len(_TIME))
        return _IS_TIME, at
    if starts(text, at, _INDEX):
        line[INDEX], at = number_at(text, at + len(_INDEX))
        return _IS_INDEX, at
    if starts(text, at, _ERROR):
        at += len(_ERROR)
        if at < len(text) and text[at] == _COLON:
            _, at = keyword_at(text, at)
            return _IS_ERROR, at
        end = nested_end(text, at, line[_LINE:])
        if end < 0:
            _, end = text_token(text, at, False)
        return _IS_ERROR, end
    return 0, -1


@kernel
def line_at(text: Bytes, at: int, line: Ints) -> int:
    """Read a line; return where the next one begins, or -1."""
    line[INDEX] = -1
    if text[at] != _BEGIN:
        return -1
    fields, separator = 0, _COMMA
    at += 1
    while separator == _COMMA:
        field, at = field_at(text, at, line)
        if at < 0 or fields & field != 0 or at + 1 >= len(text):
            return -1
        fields |= field
        separator = text[at]
        at += 1
        if separator == _COMMA and text[at] == _BLANK:
            at += 1
        elif separator == _BLANK:  # commas are blanks
            separator = _COMMA
    if separator != _END or text[at] != NEWLINE or fields & _NEEDED != _NEEDED:
        return -1
    return at + 1


@kernel
def begin(line: Ints, call: Ints, time: int) -> bool:
    """Note an invocation; return False if its value is unusual."""
    function = line[FUNCTION]
    call[:] = 0
    call[A], call[B], call[C], call[D], call[RESULT] = NO_TOKEN, NO_TOKEN, NO_TOKEN, NO_TOKEN, NO_TOKEN
    call[PROCESS], call[F], call[STATE], call[INVOKE] = line[WHO], line[NAMED], OPEN, time
    if function == CAS:
        call[A], call[B] = line[VALUE], line[OTHER]
        return bool(line[PAIR] == 1)
    if function in (WRITE, ENQUEUE, PUSH):
        call[A] = line[VALUE]
        return bool(line[PAIR] == 0 and line[VALUE] >= 0)
    return bool(line[PAIR] == 0 and line[VALUE] == NULL)


@kernel
def end(text: Bytes, line: Ints, call: Ints) -> bool:
    """Note how a call ended, but for the time; return False if that is unusual."""
    function = line[FUNCTION]
    if not same_token(text, call[F], line[NAMED]):
        return False
    if line[TYPE] == FAILED:
        call[STATE] = DROPPED
        return True
    if line[TYPE] == UNSEEN:
        call[STATE] = LOST
        return True
    call[STATE] = RETURNED
    if function in (READ, DEQUEUE, POP):
        call[RESULT] = line[VALUE]
        return bool(line[PAIR] == 0 and line[VALUE] != NAME)
    call[RESULT] = TRUE if function == CAS else NULL
    if line[VALUE] == NULL:
        return True
    if function == CAS:
        return bool(
            line[PAIR] == 1 and same_token(text, call[A], line[VALUE]) and same_token(text, call[B], line[OTHER])
        )
    return bool(line[PAIR] == 0 and call[A] >= 0 and same_token(text, call[A], line[VALUE]))


@kernel
def read_events(text: Bytes, calls: Ints) -> tuple[int, int]:
    """Read all lines; return how many calls are not dropped, and the functions as bits; 0 if a line is unusual."""
    lines = min(count_lines(text), len(calls))
    table, names = table_for(lines), np.empty(lines, np.int64)
    latest, line = np.full(lines, -1, np.int64), np.empty(_LINE + ROOM, np.int64)
    count, time, at, processes, functions, index = 0, 0, 0, 0, 0, -2
    while at < len(text):
        at = line_at(text, at, line)
        if at < 0 or count == lines:
            return 0, 0
        if index != -2 and ((index == -1) != (line[INDEX] == -1) or (index != -1 and line[INDEX] <= index)):
            return 0, 0
        index = line[INDEX]
        if line[WHO] == NEMESIS:
            continue
        line[FUNCTION] = function_of(text, line[NAMED])
        if line[FUNCTION] < 0 or processes == len(names):
            return 0, 0
        functions |= 1 << line[FUNCTION]
        process = number_of(text, line[WHO], table, names, processes)
        processes = max(processes, process + 1)
        mine = latest[process]
        if line[TYPE] == INVOKED:
            if mine >= 0 and calls[mine, STATE] in (OPEN, LOST):
                return 0, 0
            time += 1
            if not begin(line, calls[count], time):
                return 0, 0
            latest[process] = count
            count += 1
            continue
        if mine < 0 or calls[mine, STATE] != OPEN or not end(text, line, calls[mine]):
            return 0, 0
        if line[TYPE] == SUCCEEDED:
            time += 1
            calls[mine, RETURN] = time
    kept = 0
    for call in range(count):
        if calls[call, STATE] == OPEN:
            calls[call, STATE] = LOST
        if calls[call, STATE] != DROPPED:
            for column in range(COLUMNS):
                calls[kept, column] = calls[call, column]
            kept += 1
    return kept, functions


@kernel
def model_meant(functions: int, model: int) -> int:
    """Return the model that has these functions, if it is the one that was asked for, where one was; else -1."""
    register = (1 << READ) | (1 << WRITE)
    if model in (-1, CAS_REGISTER) and functions & ~(register | (1 << CAS)) == 0:
        return CAS_REGISTER
    if model == REGISTER and functions & ~register == 0:
        return REGISTER
    if model in (-1, MUTEX) and functions & ~((1 << ACQUIRE) | (1 << RELEASE)) == 0:
        return MUTEX
    if model in (-1, QUEUE) and functions & ~((1 << ENQUEUE) | (1 << DEQUEUE)) == 0:
        return QUEUE
    if model in (-1, STACK) and functions & ~((1 << PUSH) | (1 << POP)) == 0:
        return STACK
    return -1
