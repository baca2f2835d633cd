"""Keys and values of a map as compiled code takes them from Python objects, and makes objects of them.

Example: the key "tea" of a map with strings as keys is an object of exactly the class `str`. Its state says that it is
ASCII, so its bytes are where the context says, and are taken as they are: a *blob*, address and length. The bytes of
another string are made for the call, by the interpreter.

Rule: what is not exactly of the map's class, does not fit, or cannot be encoded, is not taken here.

Invariant: what is made while something is pinned is an integer, bytes, or a string of ASCII: no such object is known to
the garbage collector, so nobody's finalizer runs meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.atomics import peek
from latchfree.ctrie.kernels.context import (
    BYTES,
    LENGTH,
    STR,
    STR_ASCII,
    STR_DATA,
    STR_STATE,
    TYPE,
    VALUES,
    words_in,
)
from latchfree.ctrie.kernels.integers import integer_of, new_integer
from latchfree.ctrie.kernels.snode import VALUE, is_blob, stored_key_words
from latchfree.jit import external, kernel, overload
from latchfree.kinds import Flag, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_HIGHS = np.uint64(0x8080808080808080)
_ONE_BYTE = 1  # PyUnicode_1BYTE_KIND

_from_bytes = external("PyBytes_FromStringAndSize", "uint64(uint64, int64)")
_from_ascii = external("PyUnicode_FromKindAndData", "uint64(int32, uint64, int64)")
_from_utf8 = external("PyUnicode_DecodeUTF8", "uint64(uint64, int64, uint64)")
_to_utf8 = external("PyUnicode_AsUTF8String", "uint64(uint64)")
_clear_error = external("PyErr_Clear", "void()")
_decref = external("Py_DecRef", "void(uint64)")


@kernel
def give_up(made: Word) -> None:
    """Drop the reference to bytes that were made for a call, if any were."""
    if made != _0:
        _decref(made)


def taken(context: Word, thing: Word, kind: Word, most: Word, like: Any) -> Any:
    """Take a key or value from a Python object.

    Parameters
    ----------
    context : Word
        Address of the context of the map, see `latchfree.ctrie.kernels.context`.
    thing : Word
        The object.
    kind, most : Word
        Words of the context with the class the object must have, and with the most bytes.
    like : int or pair
        An integer for a word, a pair for a blob.

    Returns
    -------
    tuple
        Whether it could be taken; the integer, or address and length; bytes to `give_up` after the call, 0 for none.
    """
    raise NotImplementedError  # compiled: see the overload below


@overload(taken)
def _taken(context: Any, thing: Any, kind: Any, most: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(context: Any, thing: Any, kind: Any, most: Any, like: Any) -> Any:
            return _blob(context, thing, kind, most)

        return blob

    def word(context: Any, thing: Any, kind: Any, most: Any, like: Any) -> Any:
        if peek(thing, TYPE) != peek(context, kind):
            return (False, np.int64(0), _0)
        fits, number = integer_of(context, thing)
        return (fits, number, _0)

    return word


@kernel
def _blob(context: Word, thing: Word, kind: Word, most: Word) -> Any:
    if peek(thing, TYPE) != peek(context, kind):
        return (False, (_0, _0), _0)
    made = _0
    at = words_in(thing)
    length = peek(thing, LENGTH)
    if peek(context, kind) == peek(context, STR):
        ascii_ = peek(context, STR_ASCII)
        if peek(thing, peek(context, STR_STATE)) & ascii_ == ascii_:
            at = thing + peek(context, STR_DATA)
        else:
            made = _to_utf8(thing)
            if made == _0:  # a surrogate alone, or no memory: the codec says so
                _clear_error()
                return (False, (_0, _0), _0)
            at = words_in(made)
            length = peek(made, LENGTH)
    if length > peek(context, most):
        give_up(made)
        return (False, (_0, _0), _0)
    return (True, (at, length), made)


def value_in(context: Word, mem: Word, node: Word, key: Any, like: Any) -> Word:
    """Return a new Python object of the value in an S-node that holds a key like `key`; `finished` completes it."""
    raise NotImplementedError  # compiled: see the overload below


@overload(value_in)
def _value_in(context: Any, mem: Any, node: Any, key: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(context: Any, mem: Any, node: Any, key: Any, like: Any) -> Any:
            at = mem + ((node + stored_key_words(mem, node, key)) << _3)
            length = peek(mem, node + VALUE)
            if peek(context, VALUES) == peek(context, STR) and _is_ascii(at, length):
                return _from_ascii(np.int32(_ONE_BYTE), at, np.int64(length))
            return _from_bytes(at, np.int64(length))

        return blob

    def word(context: Any, mem: Any, node: Any, key: Any, like: Any) -> Any:
        return new_integer(context, peek(mem, node + VALUE))

    return word


@kernel
def _is_ascii(at: Word, length: Word) -> Flag:
    """Return whether all bytes are below 128; the last word is padded with zeros."""
    high = _0
    for k in range((length + _7) >> _3):
        high |= peek(at, np.uint64(k))
    return high & _HIGHS == _0


def finished(context: Word, made: Word, like: Any) -> Word:
    """Return what `value_in` has made as the object that the caller gets; nothing is pinned any more."""
    raise NotImplementedError  # compiled: see the overload below


@overload(finished)
def _finished(context: Any, made: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(context: Any, made: Any, like: Any) -> Any:
            return _text(context, made)

        return blob

    def word(context: Any, made: Any, like: Any) -> Any:
        return made

    return word


@kernel
def _text(context: Word, made: Word) -> Word:
    """Return the string of UTF-8 that was not ASCII; other objects as they are."""
    if made == _0 or peek(context, VALUES) != peek(context, STR) or peek(made, TYPE) != peek(context, BYTES):
        return made
    text = _from_utf8(words_in(made), np.int64(peek(made, LENGTH)), _0)
    _decref(made)
    return text
