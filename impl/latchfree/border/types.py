"""Types of the interpreter whose slots and methods are compiled code.

Example: ``new_type("package.Lookups", {SUBSCRIPT: address}, [], "_table")`` makes a class. ``thing[key]`` of an
instance calls the function at the address, with no line of Python between. Classes inherit from it as from any other.

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
_METHODS: Final = 64
_MEMBERS: Final = 72

_DEFAULT: Final = 1 << 18
_BASE_TYPE: Final = 1 << 10
_OBJECT: Final = 16  # a member that is an object, or not there


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


def new_type(name: str, slots: Mapping[int, int], methods: Sequence[Definition], member: str) -> Any:
    """Return a new type.

    Parameters
    ----------
    name : str
        With its module.
    slots : mapping of int to int
        Addresses of functions by the numbers of slots.
    methods : sequence of Definition
        The methods of the type.
    member : str
        An attribute that holds an object, or nothing at first; its address is the first word after an object's head.

    Returns
    -------
    type
    """
    listed = (Definition * (len(methods) + 1))(*methods)
    members = (_Member * 2)(_Member(member.encode(), _OBJECT, object.__basicsize__, 0, None))
    filled = [_Slot(number, address) for number, address in slots.items()]
    filled += [_Slot(_METHODS, ctypes.addressof(listed)), _Slot(_MEMBERS, ctypes.addressof(members))]
    all_slots = (_Slot * (len(filled) + 1))(*filled)
    size = object.__basicsize__ + ctypes.sizeof(ctypes.c_void_p)
    spec = _Spec(name.encode(), size, 0, _DEFAULT | _BASE_TYPE, all_slots)
    for part in (listed, members, all_slots, spec, *methods):
        keep_for_ever(part)
    return _from_spec(ctypes.byref(spec))


# Prototypes of our own: `ctypes.pythonapi` is everybody's.
_new_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_from_spec = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec))(("PyType_FromSpec", ctypes.pythonapi))
