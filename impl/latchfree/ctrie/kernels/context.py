"""The words of a context: where a call works, what it needs to know of the interpreter, and where it goes on.

Example: `Ctrie.__getitem__` is compiled code. The interpreter passes the map and the key; the map holds its context, a
bytes object. There the code finds the arena, the trie and the participant, the class of integers to compare the key's
with, the compiled function for maps of this kind, and the Python function for everything out of the ordinary.

A context never changes. `latchfree.ctrie.binding` makes contexts; a map takes another one when more of its functions
have been compiled.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import external, kernel
from latchfree.kinds import Word

# Words of objects, which `latchfree.ctrie.interpreter` has compared with objects of this interpreter.
COUNT = np.uint64(0)  # of references
TYPE = np.uint64(object.__basicsize__ // 8 - 1)
LENGTH = np.uint64(object.__basicsize__ // 8)  # of str and bytes
DATA = np.uint64((bytes.__basicsize__ - 1) // 8)  # of bytes
DIGITS = LENGTH + np.uint64(1)  # of integers, after the word that says how many
CONTEXT = np.uint64(object.__basicsize__ // 8)  # of a map, see `latchfree.ctrie.slots`

# Words of a context.
BASE = np.uint64(0)
TRIE = np.uint64(1)
ME = np.uint64(2)  # address of the word that holds the participant: a forked child has another one
FROZEN_ROOT = np.uint64(3)
INT = np.uint64(4)  # addresses of objects that are never freed
STR = np.uint64(5)
BYTES = np.uint64(6)
NONE = np.uint64(7)
NOT_IMPLEMENTED = np.uint64(8)
KEY_ERROR = np.uint64(9)
STR_DATA = np.uint64(10)  # bytes from a string of ASCII to its characters
STR_STATE = np.uint64(11)  # word of a string with its state
STR_ASCII = np.uint64(12)  # bits of the state that all strings of ASCII have, and no other string
ZERO = np.uint64(13)  # address of the integer 0, one of the small integers, of which there is one object each
SMALL_SHIFT = np.uint64(14)  # by how many bits a small integer is shifted, to find its object; 0: not known
SMALL_COUNT = np.uint64(15)  # 1: references to small integers are counted; 0: not, from CPython 3.12 on
ONE_DIGIT = np.uint64(16)  # what a positive integer of one digit says, and how much more for each further digit
DIGIT_STEP = np.uint64(17)
FACTS = 14
#: Only in the context of a map: the classes of keys and values, their most bytes; the classes of snapshots, holds and
#: owners, or 0, and the Python function that ends an owner; functions by entry, by operation.
KEYS = np.uint64(18)
VALUES = np.uint64(19)
MOST_KEY = np.uint64(20)
MOST_VALUE = np.uint64(21)
SNAPSHOT = np.uint64(22)
HOLD = np.uint64(23)
OWNER = np.uint64(24)
END = np.uint64(25)
_FIRST_ENTRY = 26
_OPERATIONS = _FIRST_ENTRY + 9

#: Compiled functions for one kind of keys and values: see `latchfree.ctrie.kernels.single` and `by_reference`.
ENTRY_POINTS = ("subscript", "contains", "assign", "delete", "get", "take", "write", "replace", "traverse")
#: What a map does, and the Python functions that do it in any case.
OPERATIONS = (
    "__getitem__",
    "__contains__",
    "__setitem__",
    "__delitem__",
    "get",
    "pop",
    "remove",
    "put",
    "put_if_absent",
    "put_if_present",
    "get_or_insert",
    "setdefault",
    "replace",
)
SUBSCRIPT, CONTAINS, ASSIGN, DELETE, GET, TAKE, WRITE, REPLACE, TRAVERSE = (
    np.uint64(_FIRST_ENTRY + at) for at in range(len(ENTRY_POINTS))
)
(
    GET_ITEM,
    HAS_ITEM,
    SET_ITEM,
    DELETE_ITEM,
    GET_DEFAULT,
    POP,
    REMOVE,
    PUT,
    PUT_IF_ABSENT,
    PUT_IF_PRESENT,
    GET_OR_INSERT,
    SETDEFAULT,
    REPLACE_IF,
) = (np.uint64(_OPERATIONS + at) for at in range(len(OPERATIONS)))
#: How many words the context of a map has.
MAP_WORDS = np.uint64(_OPERATIONS + len(OPERATIONS))

_0 = np.uint64(0)
_incref = external("Py_IncRef", "void(uint64)")


@kernel
def participant(context: Word) -> Word:
    """Return the participant of the thread that calls: that of the interpreter lock.

    Returns
    -------
    Word
        0 in a forked child that has not claimed one yet, and after the arena was closed.
    """
    return peek(peek(context, ME), _0)


@kernel
def words_in(holder: Word) -> Word:
    """Return the address of the words in a bytes object."""
    return holder + (DATA << np.uint64(3))


@kernel
def constant(context: Word, which: Word) -> Word:
    """Return a new reference to an object of the context."""
    answer = peek(context, which)
    _incref(answer)
    return answer
