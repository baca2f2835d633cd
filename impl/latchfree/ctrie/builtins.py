"""The hottest calls, get, put and pop of integers, as builtin functions of the interpreter.

Numba's own entry points unpack and convert every argument through the general C API; that is half the cost of a
get. Here the compiled function *is* the C function of a builtin object: it receives the Python object itself,
reads the integer, and returns a new one. It runs under the interpreter lock from beginning to end.

The bound ``self`` of such a builtin is a bytes object whose first word is the address of the call's context (see
`Store.context`). What it cannot handle (not exactly an int, or out of range) it answers with NotImplemented, and
the caller takes the general path, which reports errors properly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from latchfree.atomics import peek
from latchfree.ctrie.entries import VALUE
from latchfree.ctrie.insert import ALWAYS, FULL, insert
from latchfree.ctrie.lookup import lookup
from latchfree.ctrie.nodes import NIL
from latchfree.ctrie.remove import ALWAYS as REMOVE_ALWAYS
from latchfree.ctrie.remove import remove
from latchfree.jit import callback
from latchfree.kinds import Word

#: Distance from a bytes object to its data, and the words of an object header before the type, in CPython.
BYTES_DATA = bytes.__basicsize__ - 1
_DATA = np.uint64(BYTES_DATA // 8)
_TYPE = np.uint64(1)

_0 = np.uint64(0)
_1 = np.uint64(1)
_8 = np.uint64(8)

# Words of a context, and of the C argument array.
BASE = np.uint64(0)
TRIE = np.uint64(1)
ME = np.uint64(2)
ROOT = np.uint64(3)
_OVERFLOW = np.uint64(4)
_INT = np.uint64(5)
_NONE = np.uint64(6)
_NOT_IMPLEMENTED = np.uint64(7)
CONTEXT_WORDS = 8

_METH_O = 0x0008
_METH_FASTCALL = 0x0080

_to_int64: Any = types.ExternalFunction("PyLong_AsLongLongAndOverflow", types.int64(types.uint64, types.uint64))
_from_int64: Any = types.ExternalFunction("PyLong_FromLongLong", types.uint64(types.int64))
_incref: Any = types.ExternalFunction("Py_IncRef", types.void(types.uint64))


def new_context(base: int, trie: int, me: int, root: int) -> NDArray[np.uint64]:
    """The words a single call needs: where it works, and the addresses of the objects it may return."""
    constants = [id(int), id(None), id(NotImplemented)]
    return np.array([base, trie, me, root, 0, *constants], dtype=np.uint64)


def _get(bound: Word, key: Word) -> Word:
    context = peek(bound, _DATA)
    if peek(key, _TYPE) == peek(context, _INT):
        number = _to_int64(key, context + _8 * _OVERFLOW)
        if peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF) == _0:
            mem = peek(context, BASE)
            node = lookup(mem, peek(context, TRIE), peek(context, ME), number)
            if node != NIL:
                return _from_int64(np.int64(peek(mem, node + VALUE)))
            answer = peek(context, _NONE)
            _incref(answer)
            return answer
    answer = peek(context, _NOT_IMPLEMENTED)
    _incref(answer)
    return answer


def _pop(bound: Word, key: Word) -> Word:
    context = peek(bound, _DATA)
    answer = peek(context, _NOT_IMPLEMENTED)
    if peek(key, _TYPE) == peek(context, _INT):
        number = _to_int64(key, context + _8 * _OVERFLOW)
        if peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF) == _0:
            mem = peek(context, BASE)
            node = remove(mem, peek(context, TRIE), peek(context, ME), number, REMOVE_ALWAYS, 0)
            if node == NIL:
                answer = peek(context, _NONE)
            elif node != FULL:
                return _from_int64(np.int64(peek(mem, node + VALUE)))
    _incref(answer)
    return answer


def _put(bound: Word, arguments: Word, count: Word) -> Word:
    context = peek(bound, _DATA)
    key = peek(arguments, _0)
    value = peek(arguments, _1)
    answer = peek(context, _NOT_IMPLEMENTED)
    if count == 2 and peek(key, _TYPE) == peek(context, _INT) and peek(value, _TYPE) == peek(context, _INT):
        number = _to_int64(key, context + _8 * _OVERFLOW)
        bad = peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF)
        content = _to_int64(value, context + _8 * _OVERFLOW)
        bad |= peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF)
        if bad == _0:
            mem = peek(context, BASE)
            if insert(mem, peek(context, TRIE), peek(context, ME), number, content, ALWAYS, content) != FULL:
                answer = peek(context, _NONE)
    _incref(answer)
    return answer


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _method(which: str) -> tuple[_MethodDef, Any]:
    """The C description of a builtin; it and its code live as long as the process."""
    word = types.uint64
    if which == "put":
        compiled = callback(word(word, word, types.int64), _put)
        return _MethodDef(b"put", compiled.address, _METH_FASTCALL, None), compiled
    compiled = callback(word(word, word), _get if which == "get" else _pop)
    return _MethodDef(which.encode(), compiled.address, _METH_O, None), compiled


def builtin(which: str, context: NDArray[np.uint64]) -> Callable[..., Any]:
    """The builtin "get", "put" or "pop" bound to a context, which must outlive it.

    Returns
    -------
    callable
        ``get(key)``: the value, None if absent. ``put(key, value)``: None. ``pop(key)``: the value removed, None if
        absent. All: NotImplemented if they did nothing because the arguments are not plain integers in range, or
        (put, pop) because the arena is full.
    """
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    definition, _ = _method(which)
    bound = int(context.ctypes.data).to_bytes(8, "little")
    made: Callable[..., Any] = create(ctypes.addressof(definition), bound, None)
    return made


def not_plain(*arguments: Any) -> Any:
    """Stands in for a builtin where keys or values are not integers."""
    return NotImplemented
