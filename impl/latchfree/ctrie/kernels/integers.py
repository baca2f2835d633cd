"""Integers of Python as words: read where they are, and found where they are.

Example: the integer 5 << 30 has the digits 0 and 5, of 30 bits each. The object says that there are two, and that it is
positive; the digits follow. The code puts them together, and calls nothing. As a value, 5 is an object that the
interpreter has already: its address is that of 0 plus 5 << 5, so no object is made.

Rule: what `latchfree.ctrie.interpreter` does not know of this interpreter, or a negative or large integer, is left to
the interpreter's own functions.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek, poke, read_int32
from latchfree.border.objects import room
from latchfree.ctrie.kernels.context import (
    COUNT,
    DIGIT_STEP,
    DIGITS,
    LENGTH,
    ONE_DIGIT,
    SMALL_COUNT,
    SMALL_SHIFT,
    ZERO,
)
from latchfree.jit import external, kernel
from latchfree.kinds import Flag, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_30 = np.uint64(30)
_32 = np.uint64(32)
_60 = np.uint64(60)
_LOW = np.uint64(0xFFFFFFFF)
_DIGIT = np.uint64((1 << 30) - 1)
#: What the third digit of an integer below 2**63 is at most.
_THIRD = np.uint64(7)
# Small integers: how many are below 0, and how many there are.
_SMALL_BELOW = np.uint64(5)
_SMALL = np.uint64(262)

_to_int64 = external("PyLong_AsLongLongAndOverflow", "int64(uint64, uint64)")
_from_int64 = external("PyLong_FromLongLong", "uint64(int64)")


@kernel
def integer_of(context: Word, thing: Word) -> tuple[Flag, Word]:
    """Return whether an object of exactly the class `int` fits in 64 bits, and the integer.

    How many digits there are, up to three, decides no branch: among random integers the processor cannot tell.
    """
    step = peek(context, DIGIT_STEP)
    more = peek(thing, LENGTH) - peek(context, ONE_DIGIT)
    if more & (step - _1) == _0 and more <= step << _1:
        digits = peek(thing, DIGITS)
        second, third = np.uint64(more != _0), np.uint64(more == step << _1)
        # Where there is no third digit, the first is read again.
        top = read_int32(thing + ((DIGITS + third) << _3)) & (_0 - third)
        if top <= _THIRD:
            return True, np.int64((digits & _DIGIT) | ((digits >> _32) & (_0 - second)) << _30 | top << _60)
    overflow = room(1)
    number = _to_int64(thing, overflow)
    return peek(overflow, _0) & _LOW == _0, number


@kernel
def new_integer(context: Word, word: Word) -> Word:
    """Return a new reference to the integer of a word; a small one is not made, for the interpreter has it."""
    shift = peek(context, SMALL_SHIFT)
    if word + _SMALL_BELOW < _SMALL and shift != _0:
        thing = peek(context, ZERO) + (word << shift)
        if peek(context, SMALL_COUNT) != _0:
            # As the interpreter itself counts, whose lock this thread holds; to call it costs more.
            poke(thing, COUNT, peek(thing, COUNT) + _1)
        return thing
    return _from_int64(np.int64(word))
