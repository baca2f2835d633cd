"""JSON Lines of operations, from bytes to calls.

Example: ``{"history": "h", "process": 0, "f": "read", "arguments": [], "result": 1, "invoke": 3, "return": 4}`` with or
without blanks, its fields in any order. The lines are those of `formats.jsonl`, of one history.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.lines import (
    INVOKE,
    LOST,
    NEWLINE,
    PROCESS,
    RESULT,
    RETURN,
    RETURNED,
    SIZE,
    STATE,
    A,
    B,
    Bytes,
    C,
    D,
    F,
    number_at,
    starts,
    word,
)
from latchfree_lincheck.engine.logs.tokens import (
    FALSE,
    LENGTH,
    NO_TOKEN,
    NULL,
    TRUE,
    inside,
    is_text,
    same_token,
    scalar_token,
    skip_blanks,
    text_token,
)
from latchfree_lincheck.history.timeline import Ints

_HISTORY: Final = word(b'"history"')
_PROCESS: Final = word(b'"process"')
_F: Final = word(b'"f"')
_ARGUMENTS: Final = word(b'"arguments"')
_RESULT: Final = word(b'"result"')
_INVOKE: Final = word(b'"invoke"')
_RETURN: Final = word(b'"return"')
_OBJECT: Final = word(b'"object"')
_MODEL: Final = word(b'"model"')
_NULL: Final = word(b"null")
_TRUE: Final = word(b"true")
_FALSE: Final = word(b"false")

_COMMA: Final = 44
_COLON: Final = 58
_OPENING: Final = 91
_CLOSING: Final = 93
_BEGIN: Final = 123
_END: Final = 125

# The fields of a line, as bits.
_IS_HISTORY: Final = 1
_IS_PROCESS: Final = 2
_IS_F: Final = 4
_IS_ARGUMENTS: Final = 8
_IS_RESULT: Final = 16
_IS_INVOKE: Final = 32
_IS_RETURN: Final = 64
_IS_OBJECT: Final = 128
_IS_MODEL: Final = 256
_NEEDED: Final = _IS_PROCESS | _IS_F | _IS_ARGUMENTS | _IS_INVOKE | _IS_RETURN

# Places of `named`: what the lines say about the history.
HISTORY: Final = 0
MODEL: Final = 1


@kernel
def field_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the bit of the field whose name stands at a place, and where its value begins; -1 if it is none."""
    field, size = 0, 0
    if starts(text, at, _PROCESS):
        field, size = _IS_PROCESS, len(_PROCESS)
    elif starts(text, at, _F):
        field, size = _IS_F, len(_F)
    elif starts(text, at, _ARGUMENTS):
        field, size = _IS_ARGUMENTS, len(_ARGUMENTS)
    elif starts(text, at, _RESULT):
        field, size = _IS_RESULT, len(_RESULT)
    elif starts(text, at, _INVOKE):
        field, size = _IS_INVOKE, len(_INVOKE)
    elif starts(text, at, _RETURN):
        field, size = _IS_RETURN, len(_RETURN)
    elif starts(text, at, _HISTORY):
        field, size = _IS_HISTORY, len(_HISTORY)
    elif starts(text, at, _MODEL):
        field, size = _IS_MODEL, len(_MODEL)
    elif starts(text, at, _OBJECT):
        field, size = _IS_OBJECT, len(_OBJECT)
    at = skip_blanks(text, at + size)
    if size == 0 or at >= len(text) or text[at] != _COLON:
        return 0, -1
    return field, skip_blanks(text, at + 1)


@kernel
def value_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the token of a value, and where it ends; -1 if it is unusual."""
    if starts(text, at, _NULL):
        return NULL, at + len(_NULL)
    if starts(text, at, _TRUE):
        return TRUE, at + len(_TRUE)
    if starts(text, at, _FALSE):
        return FALSE, at + len(_FALSE)
    return scalar_token(text, at, True)


@kernel
def arguments_at(text: Bytes, at: int, call: Ints) -> int:
    """Read up to three arguments into a call; return where they end, -1 if they are unusual."""
    call[A], call[B], call[C] = NO_TOKEN, NO_TOKEN, NO_TOKEN
    if at >= len(text) or text[at] != _OPENING:
        return -1
    at = skip_blanks(text, at + 1)
    if at < len(text) and text[at] == _CLOSING:
        return at + 1
    for column in range(A, C + 1):
        call[column], at = scalar_token(text, at, True)
        if at < 0:
            return -1
        at = skip_blanks(text, at)
        if at < len(text) and text[at] == _CLOSING:
            return at + 1
        if at >= len(text) or text[at] != _COMMA:
            return -1
        at = skip_blanks(text, at + 1)
    return -1


@kernel
def name_at(text: Bytes, at: int, named: Ints, place: int) -> int:
    """Read what all lines are to say alike, a text, or of the model nothing; return where it ends, or -1."""
    token, end = value_at(text, at)
    if end < 0 or (token != NULL and not is_text(text, token)):
        return -1
    if token == NULL or inside(token) & LENGTH == 0:
        return end if place == MODEL and token == NULL else -1
    if named[place] != NO_TOKEN and not same_token(text, named[place], token):
        return -1
    named[place] = token
    return end


@kernel
def operation_at(text: Bytes, at: int, call: Ints, named: Ints, given: bool) -> tuple[int, int]:
    """Read a line into a call; return its fields and where the next line begins, -1 there if the line is unusual.

    `named` gets what the lines say about the history; its model is passed over where one is `given`.
    """
    call[:] = 0
    call[D], call[RESULT], call[STATE] = NO_TOKEN, NO_TOKEN, RETURNED
    if text[at] != _BEGIN:
        return 0, -1
    fields = 0
    separator = _COMMA
    at += 1
    while separator == _COMMA:
        field, at = field_at(text, skip_blanks(text, at))
        if at < 0 or fields & field != 0:
            return 0, -1
        fields |= field
        if field == _IS_ARGUMENTS:
            at = arguments_at(text, at, call)
        elif field == _IS_INVOKE:
            call[INVOKE], at = number_at(text, at)
        elif field == _IS_RETURN and starts(text, at, _NULL):
            call[STATE] = LOST
            at += len(_NULL)
        elif field == _IS_RETURN:
            call[RETURN], at = number_at(text, at)
        elif field == _IS_RESULT:
            call[RESULT], at = value_at(text, at)
        elif field == _IS_PROCESS:
            call[PROCESS], at = scalar_token(text, at, True)
        elif field == _IS_HISTORY:
            at = name_at(text, at, named, HISTORY)
        elif field == _IS_MODEL and not given:
            at = name_at(text, at, named, MODEL)
        elif field == _IS_F:
            call[F], at = text_token(text, at, True)
            call[F] = inside(call[F])
        else:
            call[SIZE], at = value_at(text, at)
            if at >= 0 and call[SIZE] != NULL and not is_text(text, call[SIZE]):
                return 0, -1
            if field == _IS_OBJECT and call[SIZE] != NULL:
                call[D] = call[SIZE]
        if at < 0:
            return 0, -1
        at = skip_blanks(text, at)
        if at + 1 >= len(text):
            return 0, -1
        separator = text[at]
        at += 1
    if separator != _END or text[at] != NEWLINE or fields & _NEEDED != _NEEDED:
        return 0, -1
    if call[STATE] == LOST:
        return fields, at + 1 if fields & _IS_RESULT == 0 else -1
    return fields, at + 1 if call[INVOKE] <= call[RETURN] else -1


@kernel
def read_records(text: Bytes, calls: Ints, named: Ints, given: bool) -> int:
    """Read all lines as calls; return how many there are, 0 if a line is unusual.

    The history has a name on every line or on none.
    """
    named[HISTORY], named[MODEL] = NO_TOKEN, NO_TOKEN
    count, at, alike = 0, 0, 0
    while at < len(text):
        if count == len(calls):
            return 0
        fields, at = operation_at(text, at, calls[count], named, given)
        if at < 0 or (count > 0 and fields & _IS_HISTORY != alike):
            return 0
        alike = fields & _IS_HISTORY
        count += 1
    return count
