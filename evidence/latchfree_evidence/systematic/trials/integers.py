"""Integers that compiled code reads where they are, and finds where they are.

Example: the integer 5 << 30 says that it has two digits. CPython 3.11 says so by the number 2, and 3.12 by 16.
Whichever runs the trial, it makes objects that look like those of both.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any, Final

from latchfree import Ctrie
from latchfree.ctrie.kernels import context as words
from latchfree.ctrie.kernels.integers import integer_of, new_integer
from latchfree_evidence.systematic.plain.maps import maps
from latchfree_evidence.systematic.plain.words import signed
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_MOST: Final = (1 << 63) - 1
_HEAD: Final = object.__basicsize__
_DIGIT: Final = (1 << 30) - 1


def _numbers() -> Iterator[int]:
    """Integers of no digit to four, of every sign."""
    for bits in (0, 1, 29, 30, 31, 32, 59, 60, 61, 62, 63, 64, 89, 90):
        for near in (-1, 0, 1):
            yield (1 << bits) + near
            yield -(1 << bits) + near
    yield from (0x2A5F_C3D1, 0x2A5F_C3D1_1234_5678, 0x1234_5678_9ABC_DEF0, -0x1234_5678_9ABC_DEF0)


def _object(number: int, *, signs: bool) -> Any:
    """Return bytes that look like an integer, for an interpreter that keeps the sign apart, or does not."""
    digits = []
    rest = abs(number)
    while rest:
        digits.append(rest & _DIGIT)
        rest >>= 30
    sign = 2 if number < 0 else 0 if number else 1
    says = len(digits) << 3 | sign if signs else len(digits) if number > 0 else -len(digits)
    # What follows the digits is not theirs.
    room = [*digits, 0x7EAF_00D5, 0x7EAF_00D5]
    return ctypes.create_string_buffer(bytes(_HEAD) + struct.pack(f"=q{len(room)}I", says, *room))


def digits(world: World, seed: int) -> None:
    """Read integers as two interpreters have them; what cannot be read there is asked of the interpreter."""
    asked: list[int] = []
    expected = 0
    spare = (ctypes.c_uint64 * 4)()

    def to_int64(thing: int, overflow: int) -> int:
        asked.append(thing)
        fits = -_MOST - 1 <= expected <= _MOST
        ctypes.c_int32.from_address(overflow).value = 0 if fits else 1 if expected > 0 else -1
        return expected if fits else -1

    named = world.with_named({"PyLong_AsLongLongAndOverflow": to_int64, "room": lambda count: ctypes.addressof(spare)})
    read = named[integer_of]
    for signs, says in ((False, (1, 1)), (True, (8, 8)), (False, (1 << 62, 1)), (True, (1 << 62, 1))):
        context = (ctypes.c_uint64 * int(words.MAP_WORDS))()
        context[int(words.ONE_DIGIT)], context[int(words.DIGIT_STEP)] = says
        for number in _numbers():
            expected = number
            made = _object(number, signs=signs)
            asked.clear()
            fits, word = read(ctypes.addressof(context), ctypes.addressof(made))
            require(bool(fits) == (-_MOST - 1 <= number <= _MOST), "an integer that fits is taken", number)
            require(not fits or signed(int(word)) == number, "an integer is taken", number, word)
            here = says[0] < 1 << 62 and 0 < number <= _MOST
            require(len(asked) == (not here), "who reads an integer", number, says)


def references(world: World, seed: int) -> None:
    """Find small integers in a row that looks like the interpreter's, where references to them are counted or not."""
    asked: list[int] = []

    def from_int64(number: int) -> int:
        asked.append(number)
        return 0

    named = world.with_named({"PyLong_FromLongLong": from_int64})
    new = named[new_integer]
    small, context = range(-5, 257), (ctypes.c_uint64 * int(words.MAP_WORDS))()
    for counted, shift in ((0, 5), (1, 5), (1, 6), (1, 0)):
        each = (1 << shift) // 8 or 4
        row = (ctypes.c_uint64 * (len(small) * each))(*[7, *[3] * (each - 1)] * len(small))
        zero = ctypes.addressof(row) + 5 * 8 * each
        for word, fact in ((words.ZERO, zero), (words.SMALL_SHIFT, shift), (words.SMALL_COUNT, counted)):
            context[int(word)] = fact
        for number in small:
            found = new(ctypes.addressof(context), number % (1 << 64))
            require(found == (zero + 8 * each * number if shift else 0), "a small integer is found", number, shift)
        more = counted if shift else 0
        require(list(row) == [7 + more, *[3] * (each - 1)] * len(small), "a reference is counted once", counted, shift)
        require(len(asked) == (0 if shift else len(small)), "who makes a small integer", shift)
        asked.clear()
        for number in (-_MOST - 1, -7, -6, 257, 258, _MOST):
            new(ctypes.addressof(context), number % (1 << 64))
        require(asked == [-_MOST - 1, -7, -6, 257, 258, _MOST], "other integers are made", asked)
        asked.clear()


def small_integers(world: World, seed: int) -> None:
    """Find integers of which the interpreter has one object each, and others; or it has none."""
    with maps(world) as stage:
        trie: Any = Ctrie(keys=int, values=int, arena=stage.arena())
        known = trie._context
        at = 8 * int(words.ZERO)
        unknown = known[:at] + bytes(24) + known[at + 24 :]
        for context in (known, unknown):
            trie._context = context
            for value in (-7, -6, -5, -1, 0, 1, 255, 256, 257, 258):
                trie[1] = value
                require(trie[1] == value, "an integer is found", value)
                require(context is unknown or trie[1] is trie[1] or not -5 <= value <= 256, "and not made", value)
        trie._context = known
        stage.look()
