"""Builtin functions of the interpreter made of compiled code, bound to a trie.

What they do is in `latchfree.ctrie.kernels.methods`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from latchfree.ctrie.kernels.methods import NO_ARGUMENT, ONE_ARGUMENT, SEVERAL
from latchfree.jit import callback

_METH_NOARGS = 0x0004
_METH_O = 0x0008
_METH_FASTCALL = 0x0080


def new_context(base: int, trie: int, me: int, root: int) -> NDArray[np.uint64]:
    """The words a call needs: where it works, and the addresses of the objects it may return."""
    constants = [id(int), id(None), id(NotImplemented)]
    return np.array([base, trie, me, root, 0, *constants], dtype=np.uint64)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_builtin = ctypes.pythonapi.PyCFunction_NewEx
_new_builtin.restype = ctypes.py_object
_new_builtin.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)


@cache
def _method(name: str) -> tuple[_MethodDef, Any]:
    """The C description of a builtin; it and its code live as long as the process."""
    word = types.uint64
    if name in SEVERAL:
        compiled = callback(word(word, word, types.int64), SEVERAL[name])
        return _MethodDef(name.encode(), compiled.address, _METH_FASTCALL, None), compiled
    if name in NO_ARGUMENT:
        compiled = callback(word(word, word), NO_ARGUMENT[name])
        return _MethodDef(name.encode(), compiled.address, _METH_NOARGS, None), compiled
    compiled = callback(word(word, word), ONE_ARGUMENT[name])
    return _MethodDef(name.encode(), compiled.address, _METH_O, None), compiled


def builtin(name: str, context: NDArray[np.uint64]) -> Callable[..., Any]:
    """A builtin bound to a context, which must outlive it.

    Parameters
    ----------
    name : str
        "get", "put" or "pop", for integers to integers, which check their arguments; "find", "insert" or "remove"
        with the kinds of keys and values ("_ww" to "_bb"), which trust them to be exactly int or bytes; or "freeze",
        "clear" or "drop".

    Returns
    -------
    callable
        ``get(key)``, ``find(key)``: the value, None if absent. ``put(key, value)``: None.
        ``insert(key, value, mode, expected)``: what `latchfree.ctrie.kernels.insert.insert` replaced, or None.
        ``pop(key)``, ``remove(key, mode, expected)``: the value removed, None if none was. ``freeze()``: the slot of
        a snapshot. ``clear()``, ``drop(slot)``: None. All: NotImplemented if
        they did nothing, because an argument is not a plain integer in range, the arena is full, or the process has
        no participant.
    """
    definition, _ = _method(name)
    bound = context.__array_interface__["data"][0].to_bytes(8, "little")
    made: Callable[..., Any] = _new_builtin(ctypes.addressof(definition), bound, None)
    return made


class Raw(dict[str, Callable[..., Any]]):
    """The builtins of one context for one kind of keys and values, by name ("find", ...), made when first used."""

    def __init__(self, context: NDArray[np.uint64], kinds: str) -> None:
        self._context = context
        self._kinds = kinds

    def __missing__(self, name: str) -> Callable[..., Any]:
        made = self[name] = builtin(name + self._kinds, self._context)
        return made


def not_plain(*arguments: Any) -> Any:
    """Stands in for a builtin where keys or values are not integers."""
    return NotImplemented
