"""Words and numbers at a place of a text; the calls of a log, paired with their returns.

A call is a row of `calls`. Its process may call again when the call has returned or was dropped, and never again when
nobody knows how it ended.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.history.timeline import Ints, int64

Bytes = npt.NDArray[np.uint8]

# The answers about a log; those of a search have other names.
OK: Final = 0
VIOLATION: Final = 1
UNUSUAL: Final = 2

# The columns of a call. What A, B and FORM mean depends on the log.
PROCESS: Final = 0
F: Final = 1
FORM: Final = 2
A: Final = 3
B: Final = 4
C: Final = 5
D: Final = 6
RESULT: Final = 7
SIZE: Final = 8
STATE: Final = 9
INVOKE: Final = 10
RETURN: Final = 11
COLUMNS: Final = 12

# As STATE.
OPEN: Final = 0
RETURNED: Final = 1
LOST: Final = 2
DROPPED: Final = 3

# The types of lines.
INVOKED: Final = 0
SUCCEEDED: Final = 1
FAILED: Final = 2
UNSEEN: Final = 3

_DIGITS: Final = 18
_0: Final = 48
_9: Final = 57
NEWLINE: Final = 10


def word(text: bytes) -> Any:
    """Return bytes as compiled code compares them."""
    return np.frombuffer(text, np.uint8).copy()


_KINDS: Final = word(b":invoke"), word(b":ok"), word(b":fail"), word(b":info")
_INVOKE, _OK, _FAIL, _INFO = _KINDS


@kernel
def starts(text: Bytes, at: int, wanted: Bytes) -> bool:
    """Return whether a word stands at a place."""
    if at + len(wanted) > len(text):
        return False
    i = 0
    while i < len(wanted) and text[at + i] == wanted[i]:
        i += 1
    return i == len(wanted)


@kernel
def number_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return a number of at most 18 digits, without zeros before it, and where it ends; -1 if there is none."""
    end = at
    value = int64(0)
    while end < len(text) and _0 <= text[end] <= _9:
        if end - at == _DIGITS or (end > at and text[at] == _0):
            return 0, -1
        value = value * 10 + int64(text[end]) - _0
        end += 1
    if end == at:
        return 0, -1
    return value, end


@kernel
def kind_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the type of a line, and where its word ends; -1 if it is none."""
    if starts(text, at, _INVOKE):
        return INVOKED, at + len(_INVOKE)
    if starts(text, at, _OK):
        return SUCCEEDED, at + len(_OK)
    if starts(text, at, _FAIL):
        return FAILED, at + len(_FAIL)
    if starts(text, at, _INFO):
        return UNSEEN, at + len(_INFO)
    return 0, -1


@kernel
def count_lines(text: Bytes) -> int:
    """Return the number of lines; 0 if the last one has no end."""
    if len(text) == 0 or text[len(text) - 1] != NEWLINE:
        return 0
    count = 0
    for byte in text:
        if byte == NEWLINE:
            count += 1
    return count


@kernel
def place_of(table: Ints, calls: Ints, process: int) -> int:
    """Return where the table has the latest call of a process, plus one, or would have it."""
    mask = np.uint64(len(table) - 1)
    at = mix(process, 0) & mask
    while table[at] != 0 and calls[table[at] - 1, PROCESS] != process:
        at = (at + np.uint64(1)) & mask
    return int(int64(at))


@kernel
def table_for(count: int) -> Ints:
    """Return an empty table for that many calls."""
    room = 16
    while room < 2 * count:
        room *= 2
    return np.zeros(room, np.int64)


@kernel
def lose_open(calls: Ints, count: int) -> int:
    """Leave calls that have not returned pending; return how many calls are not dropped."""
    kept = 0
    for call in range(count):
        if calls[call, STATE] == OPEN:
            calls[call, STATE] = LOST
        if calls[call, STATE] != DROPPED:
            kept += 1
    return kept
