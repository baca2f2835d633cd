"""Builtin functions of the interpreter, made of compiled code and bound to a trie.

Example: ``get = builtin("get", context)`` makes an object that the interpreter calls as it calls `len`; ``get(5)`` runs
`latchfree.ctrie.kernels.methods` with no Python frame in between.

A *context* is an array of words: where the trie is, and the addresses of the objects that a call may return. A builtin
keeps its context alive.
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
    """Return the context of calls on a trie.

    Parameters
    ----------
    base : int
        Address of the arena.
    trie : int
        Word offset of the trie's root word.
    me : int
        Address of the word that holds the participant.
    root : int
        Word offset of the frozen root I-node to read from; 0 for the live trie.

    Returns
    -------
    ndarray of uint64, shape (8,)
        The fields are named in `latchfree.ctrie.kernels.methods`.
    """
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
_new_builtin.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)


@cache
def _method(name: str) -> tuple[_MethodDef, Any]:
    """Return the C description of a builtin, and its code; both live as long as the process."""
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
    """Return a builtin bound to a context.

    ==============================================  ===============================================
    call                                            result
    ==============================================  ===============================================
    ``get(key)``, ``find(key)``                     the value, None if absent
    ``put(key, value)``                             None
    ``pop(key)``                                    the value removed, None if there was none
    ``insert(key, value, mode, expected)``          the value replaced, or None
    ``remove(key, mode, expected)``                 the value removed, or None
    ``freeze()``                                    the slot of a new snapshot
    ``clear()``, ``drop(slot)``                     None
    ==============================================  ===============================================

    All return NotImplemented if they did nothing: an argument is not a plain integer in range, the arena is full, or
    the process has no participant.

    Parameters
    ----------
    name : str
        ``get``, ``put`` and ``pop`` take integers and check their arguments. The names ``find``, ``insert`` and
        ``remove`` end with the kinds of keys and values (``_ww`` to ``_bb``: word or bytes); these calls trust their
        arguments to be exactly int or bytes.
    context : ndarray
        From `new_context`.

    Returns
    -------
    callable
    """
    definition, _ = _method(name)
    bound = context.__array_interface__["data"][0].to_bytes(8, "little")
    # The interpreter keeps a reference to the last argument, which it takes for the module of the builtin.
    made: Callable[..., Any] = _new_builtin(ctypes.addressof(definition), bound, context)
    return made


def not_plain(*arguments: Any) -> Any:
    """Stand for a builtin where keys or values are not integers: return NotImplemented."""
    return NotImplemented
