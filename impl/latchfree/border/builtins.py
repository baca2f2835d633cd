"""Builtin functions of the interpreter, made of the address of compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

NO_ARGUMENT: Final = 0x0004
ONE_ARGUMENT: Final = 0x0008
SEVERAL: Final = 0x0080
WITH_NAMES: Final = 0x0082
"""How the interpreter passes arguments: METH_NOARGS, METH_O, METH_FASTCALL, the same with METH_KEYWORDS."""


class Definition(ctypes.Structure):
    """A ``PyMethodDef``; it must live as long as the builtins that are made of it, so nobody frees one."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_builtin = ctypes.pythonapi.PyCFunction_NewEx
_new_builtin.restype = ctypes.py_object
_new_builtin.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)

_kept: list[Definition] = []


def define(name: str, address: int, flags: int, doc: str | None = None) -> Definition:
    """Return the definition of a builtin, for ever."""
    definition = Definition(name.encode(), address, flags, None if doc is None else doc.encode())
    _kept.append(definition)
    return definition


def builtin(definition: Definition, bound: object, module: object = None) -> Callable[..., Any]:
    """Return a builtin; the compiled code gets `bound` as its first argument, and `module` is kept alive."""
    made: Callable[..., Any] = _new_builtin(ctypes.addressof(definition), bound, module)
    return made
