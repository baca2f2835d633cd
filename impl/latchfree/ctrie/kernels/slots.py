"""What the interpreter calls for ``trie[key]``, ``key in trie``, ``trie.get(key)`` and so on: the slots of a type.

Example: ``trie[5]``. The interpreter calls `_subscript` with the map and the key. The context of the map says which
compiled function looks up keys of its kind. Where none does, `_subscript` calls the Python function.

So one type serves maps of any keys and values, and these functions do not change when a kernel does.

Where a map holds objects of Python, the garbage collector calls `_traverse` and `_clear`.

A result is an object, or -1 and 0 from the slots that say whether they failed; 0 as an object and -1 say that an
exception is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.ctrie.kernels import context as c
from latchfree.ctrie.kernels.context import CONTEXT, TYPE, words_in
from latchfree.ctrie.kernels.surprise import ERROR, again, answered, asked, done
from latchfree.jit import external, instruction, kernel
from latchfree.kinds import Word

_0 = np.uint64(0)
_INT = np.uint64(0xFFFFFFFF)  # of what a C function returns as an int

_SUBSCRIPT, _CONTAINS, _ASSIGN, _DELETE = c.SUBSCRIPT, c.CONTAINS, c.ASSIGN, c.DELETE
_GET, _TAKE, _WRITE, _REPLACE, _TRAVERSE = c.GET, c.TAKE, c.WRITE, c.REPLACE, c.TRAVERSE
_GET_ITEM, _HAS_ITEM = c.GET_ITEM, c.HAS_ITEM
_GET_DEFAULT, _POP, _REMOVE, _REPLACE_IF = c.GET_DEFAULT, c.POP, c.REMOVE, c.REPLACE_IF
_PUT, _PUT_IF_ABSENT, _PUT_IF_PRESENT = c.PUT, c.PUT_IF_ABSENT, c.PUT_IF_PRESENT
_GET_OR_INSERT, _SETDEFAULT = c.GET_OR_INSERT, c.SETDEFAULT

_call_2 = instruction("latchfree.llvm", "call_2")
_call_3 = instruction("latchfree.llvm", "call_3")
_call_5 = instruction("latchfree.llvm", "call_5")
_size = external("PyObject_Size", "int64(uint64)")
_bad = external("PyErr_BadArgument", "int32()")
_decref = external("Py_DecRef", "void(uint64)")


@kernel
def _unready(this: Word) -> Word:
    """Set the error for a map that `__init__` has not made, or that the garbage collector has taken apart."""
    if _size(this) >= 0:  # it asks for what is missing, and the error says what that is
        _bad()
    return _0


def _subscript(this: Word, key: Word) -> Word:
    holder = peek(this, CONTEXT)
    if holder == _0:
        return _unready(this)
    context = words_in(holder)
    function = peek(context, _SUBSCRIPT)
    return _call_2(function, this, key) if function != _0 else asked(_GET_ITEM, this, key)


def _contains(this: Word, key: Word) -> Word:
    holder = peek(this, CONTEXT)
    if holder == _0:
        _unready(this)
        return ERROR
    context = words_in(holder)
    function = peek(context, _CONTAINS)
    return _call_2(function, this, key) if function != _0 else answered(asked(_HAS_ITEM, this, key))


def _assign(this: Word, key: Word, value: Word) -> Word:
    """Write, or delete where there is no value."""
    holder = peek(this, CONTEXT)
    if holder == _0:
        _unready(this)
        return ERROR
    context = words_in(holder)
    if value == _0:
        function = peek(context, _DELETE)
        return _call_2(function, this, key) if function != _0 else done(this, key, value)
    function = peek(context, _ASSIGN)
    return _call_3(function, this, key, value) if function != _0 else done(this, key, value)


def _traverse(this: Word, visit: Word, argument: Word) -> Word:
    """Show the garbage collector what a map holds: its class, as of any type made at run time, and objects."""
    answer = _call_2(visit, peek(this, TYPE), argument) & _INT
    holder = peek(this, CONTEXT)
    if answer != _0 or holder == _0:
        return answer
    function = peek(words_in(holder), _TRAVERSE)
    return _call_3(function, this, visit, argument) if function != _0 else _0


def _clear(this: Word) -> Word:
    """Take a map apart that is garbage: its trie goes with the attributes of its class, which were cleared before."""
    holder = peek(this, CONTEXT)
    poke(this, CONTEXT, _0)
    if holder != _0:
        _decref(holder)
    return _0


@kernel
def _call(this: Word, given: Word, count: Word, names: Word, entry: Word, operation: Word) -> Word:
    """Go on with a method: with the compiled function, or with the Python function of the operation."""
    holder = peek(this, CONTEXT)
    if holder == _0:
        return _unready(this)
    context = words_in(holder)
    function = peek(context, entry)
    if function != _0:
        return _call_5(function, this, given, count, names, operation)
    return again(operation, this, given, count, names)


def _get(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _GET, _GET_DEFAULT)


def _pop(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _TAKE, _POP)


def _remove(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _TAKE, _REMOVE)


def _put(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _WRITE, _PUT)


def _put_if_absent(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _WRITE, _PUT_IF_ABSENT)


def _put_if_present(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _WRITE, _PUT_IF_PRESENT)


def _get_or_insert(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _WRITE, _GET_OR_INSERT)


def _setdefault(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _WRITE, _SETDEFAULT)


def _replace(this: Word, given: Word, count: Word, names: Word) -> Word:
    return _call(this, given, count, names, _REPLACE, _REPLACE_IF)


#: The slots that take one object, two or none, and the methods, by name.
ONE_ARGUMENT: dict[str, Callable[..., Any]] = {"subscript": _subscript, "contains": _contains}
TWO_ARGUMENTS: dict[str, Callable[..., Any]] = {"assign": _assign, "traverse": _traverse}
NO_ARGUMENT: dict[str, Callable[..., Any]] = {"clear": _clear}
METHODS: dict[str, Callable[..., Any]] = {
    "get": _get,
    "pop": _pop,
    "remove": _remove,
    "put": _put,
    "put_if_absent": _put_if_absent,
    "put_if_present": _put_if_present,
    "get_or_insert": _get_or_insert,
    "setdefault": _setdefault,
    "replace": _replace,
}
