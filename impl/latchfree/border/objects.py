"""Python objects as compiled code takes and makes them, by the C interface of the interpreter.

An object is the word with its address. Whoever converts holds the interpreter lock. A conversion that fails leaves the
error of Python set; `failed` tells.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.jit import external, instruction, kernel
from latchfree.kinds import Flag, Word

take_word = external("PyLong_AsUnsignedLongLongMask", "uint64(uint64)")
take_int = external("PyLong_AsLongLong", "int64(uint64)")
make_word = external("PyLong_FromUnsignedLongLong", "uint64(uint64)")
make_int = external("PyLong_FromLongLong", "uint64(int64)")
make_flag = external("PyBool_FromLong", "uint64(int64)")
incref = external("Py_IncRef", "void(uint64)")
field = external("PyTuple_GetItem", "uint64(uint64, int64)")
new_tuple = external("PyTuple_New", "uint64(int64)")
set_field = external("PyTuple_SetItem", "int32(uint64, int64, uint64)")
release_gil = external("PyEval_SaveThread", "uint64()")
take_gil = external("PyEval_RestoreThread", "void(uint64)")
_fields = external("PyTuple_Size", "int64(uint64)")
_error = external("PyErr_Occurred", "uint64()")
_bad = external("PyErr_BadArgument", "int32()")
_get_buffer = external("PyObject_GetBuffer", "int32(uint64, uint64, int32)")
_release_buffer = external("PyBuffer_Release", "void(uint64)")

#: What wrappers name.
__all__ = [
    "as_pointer", "bad_count", "clear_view", "columns_of", "end_view", "failed", "field", "incref", "length_of",
    "make_flag", "make_int", "make_pair", "make_word", "release_gil", "room", "rows_of", "start_of",
    "take_fields", "take_flag", "take_gil", "take_int", "take_table", "take_view", "take_word",
]  # fmt: skip

_0 = np.uint64(0)
# Words of a Py_buffer.
_BUF = np.uint64(0)
_OBJ = np.uint64(1)
_LEN = np.uint64(2)
_ITEMSIZE = np.uint64(3)
_DIMENSIONS = np.uint64(4)  # in its upper half
_SHAPE = np.uint64(6)
VIEW_WORDS = 10
_32 = np.uint64(32)
_TWO = np.uint64(2)
_WITH_SHAPE = 8  # PyBUF_ND


#: ``room(words)``: address of that many words of the stack, for the rest of the call; `words` is a literal.
room = instruction("latchfree.llvm", "room")
#: ``as_pointer(address)``: what numba's ``carray`` takes.
as_pointer = instruction("latchfree.llvm", "as_pointer")


@kernel
def failed() -> Flag:
    """Return whether an error of Python is set."""
    return _error() != _0


@kernel
def bad_count(count: Word, wanted: Word) -> Flag:
    """Return whether the number of arguments is wrong, and set the error."""
    if count != wanted:
        _bad()
        return True
    return False


@kernel
def take_flag(thing: Word) -> Flag:
    """Return whether an integer is not 0."""
    return take_int(thing) != 0


@kernel
def take_fields(thing: Word, wanted: Word) -> None:
    """Set the error unless an object is a tuple of that length."""
    if _fields(thing) != wanted and _error() == _0:
        _bad()


@kernel
def take_view(thing: Word, view: Word, size: Word, written: Word) -> None:
    """Fill a view of an object's buffer: contiguous, of aligned elements of `size` bytes, writable if asked for."""
    if _get_buffer(thing, view, np.int32(written)) == 0 and (
        peek(view, _ITEMSIZE) != size or peek(view, _BUF) % size != _0
    ):
        _bad()


@kernel
def take_table(thing: Word, view: Word, size: Word, written: Word) -> None:
    """Fill a view of an object's buffer of two dimensions, as `take_view` does."""
    if _get_buffer(thing, view, np.int32(written | _WITH_SHAPE)) == 0 and (
        peek(view, _ITEMSIZE) != size or peek(view, _BUF) % size != _0 or peek(view, _DIMENSIONS) >> _32 != _TWO
    ):
        _bad()


@kernel
def end_view(view: Word) -> None:
    """Give a view back; one that was not filled needs no giving back."""
    if peek(view, _OBJ) != _0:
        _release_buffer(view)


@kernel
def clear_view(view: Word) -> None:
    """Mark a view as not filled."""
    poke(view, _OBJ, _0)


@kernel
def start_of(view: Word) -> Word:
    """Return the address of the first element."""
    return peek(view, _BUF)


@kernel
def length_of(view: Word, size: Word) -> Word:
    """Return the number of elements of `size` bytes."""
    return np.int64(peek(view, _LEN) // size)


@kernel
def rows_of(view: Word) -> Word:
    """Return the length of the first dimension."""
    return np.int64(peek(peek(view, _SHAPE), _0))


@kernel
def columns_of(view: Word) -> Word:
    """Return the length of the second dimension."""
    return np.int64(peek(peek(view, _SHAPE), np.uint64(1)))


@kernel
def make_pair(first: Word, second: Word) -> Word:
    """Return a new tuple of two new objects."""
    pair = new_tuple(2)
    set_field(pair, 0, first)
    set_field(pair, 1, second)
    return pair
