"""What compiled code knows of the objects of this interpreter, compared with objects when this module is loaded.

Example: the characters of "tea" stand 48 bytes after the start of the object in CPython 3.11, and 40 in 3.12. The size
of an empty string tells, and reading "tea" there proves it.

Rule: if anything looks different from what `latchfree.ctrie.kernels.context` takes for granted, nothing is read from
objects: the Python functions of a map serve, with the same results.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Final, NamedTuple

_WORD: Final = 8
#: Bytes of an object's head; the class is its last word.
_HEAD: Final = object.__basicsize__
#: Bytes from a bytes object to its data, from a string to its state, and from one of ASCII to its characters.
_BYTES_DATA: Final = bytes.__basicsize__ - 1
_STR_STATE: Final = _HEAD + 2 * _WORD
_STR_DATA: Final = sys.getsizeof("") - 1


class Strings(NamedTuple):
    """Where a string of ASCII is.

    Attributes
    ----------
    data : int
        Bytes from the object to its characters.
    state : int
        Word of the object with its state.
    ascii : int
        Bits of the state that all strings of ASCII have, and no other string.
    """

    data: int
    state: int
    ascii: int


def _word(thing: object, at: int) -> int:
    return int(ctypes.c_uint64.from_address(id(thing) + at).value)


def _state(text: str) -> int:
    return int(ctypes.c_uint32.from_address(id(text) + _STR_STATE).value)


def _fresh(text: str) -> str:
    """Return a string that nobody else has: made now, of the same characters."""
    return text.encode().decode()


def _heads_fit() -> bool:
    """Return whether the head of an object ends with its class, and the length of str and bytes follows."""
    samples = (5, 1 << 80, "tea", "", "\u20ac", b"tea", b"", None, KeyError)
    return all(_word(thing, _HEAD - _WORD) == id(type(thing)) for thing in samples) and all(
        _word(thing, _HEAD) == len(thing) for thing in ("", "tea", "t\u00e9", "\u20ac" * 5, b"", b"tea", b"\0" * 9)
    )


def _bytes_fit() -> bool:
    return all(ctypes.string_at(id(thing) + _BYTES_DATA, len(thing)) == thing for thing in (b"", b"tea", b"\0\xff" * 9))


def strings() -> Strings | None:
    """Return where a string of ASCII is, None if it is elsewhere than where it was looked for."""
    texts = ["tea" * n + "pot" for n in range(5)] + ["", "t", "a\0b", sys.intern("interned words, never seen before")]
    plain = [_fresh(text) for text in texts] + texts
    others = [_fresh(text) for text in ("\u00e9", "tea\u00e9", "\u20ac", "tea\u20ac", "\U0001f375" * 3)]
    common = ~0
    for text in plain:
        common &= _state(text)
        if ctypes.string_at(id(text) + _STR_DATA, len(text)) != text.encode():
            return None
    if any(_state(text) & common == common for text in others):
        return None
    return Strings(_STR_DATA, _STR_STATE // _WORD, common)


@cache
def known() -> Strings | None:
    """Return where a string of ASCII is; None if objects are not as compiled code takes for granted."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    if _HEAD % _WORD or _STR_STATE % _WORD or _BYTES_DATA % _WORD or ctypes.sizeof(ctypes.c_void_p) != _WORD:
        return None
    return strings() if _heads_fit() and _bytes_fit() else None


class Small(NamedTuple):
    """Where the small integers are, -5 to 256.

    Attributes
    ----------
    zero : int
        Address of 0.
    step : int
        Bytes from each to the next; 0 if they are not one after the other, or not known.
    """

    zero: int
    step: int


@cache
def small_integers() -> Small:
    """Return where the small integers are: the interpreter has one object of each, and never frees it."""
    step = id(1) - id(0)
    if known() is None or any(id(int(str(n))) != id(0) + n * step for n in range(-5, 257)):
        return Small(0, 0)
    return Small(id(0), step)
