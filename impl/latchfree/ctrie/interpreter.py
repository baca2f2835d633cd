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
    shift : int
        The address of n is that of 0 plus n shifted by so many bits; 0 if that is not so, or not known.
    counted : int
        1 where the first word of an object counts references to it; 0 from CPython 3.12 on: these are not counted.
    """

    zero: int
    shift: int
    counted: int


#: Small integers are asked of the interpreter.
_NO_SMALL: Final = Small(0, 0, 0)
#: References that are taken to see how they are counted.
_REFERENCES: Final = 1000


@cache
def small_integers() -> Small:
    """Return where the small integers are: the interpreter has one object of each, and never frees it."""
    step = id(1) - id(0)
    if known() is None or step <= 1 or step & (step - 1) or hasattr(sys, "gettotalrefcount"):
        return _NO_SMALL
    if any(id(int(str(n))) != id(0) + n * step for n in range(-5, 257)):
        return _NO_SMALL
    counts = {_counted(n) for n in (-5, 151, 211, 253)}  # which other threads hardly use
    if counts not in ({0}, {1}):
        return _NO_SMALL
    return Small(id(0), step.bit_length() - 1, counts.pop())


def _counted(number: int) -> int:
    """Return what a new reference to an integer adds to the first word of the object; -1 if not always the same."""
    before = _word(number, 0)
    held = [number] * _REFERENCES
    each, rest = divmod(_word(number, 0) - before, len(held))
    return -1 if rest else each


class Digits(NamedTuple):
    """How an integer says how many digits it has, of 30 bits each.

    Attributes
    ----------
    one : int
        The word after the head of a positive integer of one digit; its digits follow.
    step : int
        What that word has more for each further digit, a power of two.
    """

    one: int
    step: int


#: No integer says this.
_NO_DIGITS: Final = Digits(1 << 62, 1)


@cache
def digits() -> Digits:
    """Return how positive integers say how many digits they have; what none says if they are not as taken for granted.

    In CPython 3.11 the word is the number of digits, negative for a negative integer. From 3.12 on it is eight times
    that number, and the lowest bits are the sign.
    """
    if known() is None or sys.int_info[:2] != (30, 4):
        return _NO_DIGITS
    patterns = [int(f"{0x2A5F_C3D1 + n:b}" * count, 2) for count in (1, 2, 3) for n in range(3)]
    one = _word(patterns[0], _HEAD)
    found = Digits(one, _word(patterns[3], _HEAD) - one)
    if found.step <= 0 or found.step & (found.step - 1):
        return _NO_DIGITS
    positive = [*patterns, 1000, (1 << 30) - 1, 1 << 30, (1 << 60) - 1, 1 << 60, (1 << 63) - 1, (1 << 90) - 1]
    says = [found.one + found.step * n for n in range(3)]
    if any(_word(number, _HEAD) not in says or _digits_of(number, found) != number for number in positive):
        return _NO_DIGITS
    others = [0, 1 << 90, 1 << 300, *(-number for number in positive)]
    return _NO_DIGITS if any(_word(number, _HEAD) in says for number in others) else found


def _digits_of(number: int, found: Digits) -> int:
    """Return the integer that the digits of an object make."""
    count = (_word(number, _HEAD) - found.one) // found.step + 1
    at = id(number) + _HEAD + _WORD
    return sum(int(ctypes.c_uint32.from_address(at + 4 * n).value) << (30 * n) for n in range(count))
