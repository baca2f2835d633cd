"""The lines of a log of a key-value store, as Porcupine's tests have them, read as calls whose keys have numbers.

They are those of `formats.usual.read_store`. Texts stay where they are in the log: a call has the place and the length
of its key and of its value.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import APPEND, GET, PUT
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.logs.lines import (
    COLUMNS,
    DROPPED,
    FAILED,
    INVOKE,
    INVOKED,
    LOST,
    OPEN,
    PROCESS,
    RESULT,
    RETURN,
    RETURNED,
    SIZE,
    STATE,
    SUCCEEDED,
    UNSEEN,
    A,
    B,
    Bytes,
    C,
    D,
    F,
    kind_at,
    number_at,
    place_of,
    starts,
    table_for,
    word,
)
from latchfree_lincheck.history.timeline import Ints, int64

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
