"""Types of the interpreter whose slots and methods are compiled code.

Example: ``new_type("package.Lookups", {SUBSCRIPT: address}, [], {"_table": OBJECT})`` makes a class. ``thing[key]`` of
an instance calls the function at the address, with no line of Python between. Classes inherit from it as from any
other.

Invariant: what the interpreter keeps the address of lives as long as the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Final

from latchfree.border.builtins import Definition

# Numbers of slots, for ever: they are part of the stable interface of CPython.
ASSIGN: Final = 3
SUBSCRIPT: Final = 5
CONTAINS: Final = 41
CLEAR: Final = 51
TRAVERSE: Final = 71
FINALIZE: Final = 80
_METHODS: Final = 64
_MEMBERS: Final = 72

_DEFAULT: Final = 1 << 18
_BASE_TYPE: Final = 1 << 10

# Kinds of members, of a word each: an object, or nothing at first; a number, 0 at first.
OBJECT: Final = 16
NUMBER: Final = 18


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


def keep_for_ever(thing: object) -> None:
    """Keep an object, even when the interpreter ends and takes its modules apart."""
    _new_reference(thing)


def new_type(name: str, slots: Mapping[int, int], methods: Sequence[Definition], members: Mapping[str, int]) -> Any:
    """Return a new type.

    Parameters
    ----------
    name : str
        With its module.
    slots : mapping of int to int
        Addresses of functions by the numbers of slots.
    methods : sequence of Definition
        The methods of the type.
    members : mapping of str to int
        Attributes and their kinds; they are the first words after an object's head, in this order.

    Returns
    -------
    type
    """
    listed = (Definition * (len(methods) + 1))(*methods)
    word = ctypes.sizeof(ctypes.c_void_p)
    described = [
        _Member(each.encode(), kind, object.__basicsize__ + word * at, 0, None)
        for at, (each, kind) in enumerate(members.items())
    ]
    all_members = (_Member * (len(members) + 1))(*described)
    filled = [_Slot(number, address) for number, address in slots.items()]
    filled += [_Slot(_METHODS, ctypes.addressof(listed)), _Slot(_MEMBERS, ctypes.addressof(all_members))]
    all_slots = (_Slot * (len(filled) + 1))(*filled)
    size = object.__basicsize__ + word * len(members)
    spec = _Spec(name.encode(), size, 0, _DEFAULT | _BASE_TYPE, all_slots)
    for part in (listed, all_members, all_slots, spec, *methods):
        keep_for_ever(part)
    return _from_spec(ctypes.byref(spec))


# Prototypes of our own: `ctypes.pythonapi` is everybody's.
_new_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_from_spec = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec))(("PyType_FromSpec", ctypes.pythonapi))
