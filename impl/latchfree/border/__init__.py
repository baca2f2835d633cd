"""Calls from Python into compiled code: declared in tables, made as builtin functions of the interpreter.

Example::

    CALLS = Border(__name__, {"count": Call(loops.count_words, (WORD, GIVEN_INTS), INT, nogil=True)})
    CALLS.count(base, keys)
"""

from latchfree.border.builtins import NO_ARGUMENT, ONE_ARGUMENT, SEVERAL, WITH_NAMES, builtin
from latchfree.border.calls import Bare, Body, Border, Call
from latchfree.border.kinds import (
    BYTES,
    FLAG,
    GIVEN_INTS,
    GIVEN_WORDS,
    INT,
    INTS,
    NONE,
    PAIR,
    WORD,
    WORDS,
    Array,
    Fields,
)

__all__ = [
    "BYTES",
    "FLAG",
    "GIVEN_INTS",
    "GIVEN_WORDS",
    "INT",
    "INTS",
    "NONE",
    "NO_ARGUMENT",
    "ONE_ARGUMENT",
    "PAIR",
    "SEVERAL",
    "WITH_NAMES",
    "WORD",
    "WORDS",
    "Array",
    "Bare",
    "Body",
    "Border",
    "Call",
    "Fields",
    "builtin",
]
