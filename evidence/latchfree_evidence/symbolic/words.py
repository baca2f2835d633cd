"""64-bit words that may be unknown: unsigned integers, as compiled code computes with them.

A `Word` holds an int or a Z3 bit vector, and behaves like ``numpy.uint64`` in compiled code: arithmetic wraps around,
comparisons and right shifts are unsigned. What is undefined there is an error here: a shift by 64 or more, a division
by zero (see `undefined`). The truth value of an unknown comparison asks the run in progress which way to go, so the
same Python function can be run down each of its paths (see `latchfree_evidence.symbolic.paths`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import z3

BITS = 64
_MASK = (1 << BITS) - 1


class Truth:
    """An unknown truth value. Asked for its value in an ``if``, it decides which path is run."""

    decide: ClassVar[Callable[[Any], bool] | None] = None

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        if z3.is_true(self.term):
            return True
        if z3.is_false(self.term):
            return False
        if Truth.decide is None:
            raise TypeError("the value of an unknown truth was asked for outside a run")
        return Truth.decide(self.term)

    def __and__(self, other: Truth | bool) -> Truth:
        return Truth(z3.And(self.term, term_of(other)))

    def __or__(self, other: Truth | bool) -> Truth:
        return Truth(z3.Or(self.term, term_of(other)))

    def __invert__(self) -> Truth:
        return Truth(z3.Not(self.term))

    def __eq__(self, other: object) -> Any:
        return Truth(self.term == term_of(other))

    __hash__ = None  # type: ignore[assignment]
    __rand__ = __and__
    __ror__ = __or__


_TRUE, _FALSE = z3.BoolVal(True), z3.BoolVal(False)


def term_of(value: object) -> Any:
    """Return the Z3 term of a truth value."""
    if isinstance(value, Truth):
        return value.term
    return _TRUE if value else _FALSE


class Undefined(ArithmeticError):
    """Compiled code would do something undefined, such as a shift by 64."""


class Word:
    """A 64-bit unsigned integer, known or not."""

    __slots__ = ("value",)
    __array_ufunc__ = None  # numpy leaves arithmetic with its scalars to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value: Any
        if isinstance(value, Word):
            value = value.value
        elif not isinstance(value, z3.BitVecRef):
            value = int(value) & _MASK
        self.value = value

    @property
    def known(self) -> bool:
        """Whether it is a plain number."""
        return isinstance(self.value, int)

    @property
    def term(self) -> Any:
        """Its Z3 term."""
        return z3.BitVecVal(self.value, BITS) if self.known else self.value

    def __repr__(self) -> str:
        return f"Word({self.value:#x})" if self.known else f"Word({self.value})"

    def __index__(self) -> int:
        if self.known:
            return int(self.value)
        return choose(self)

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self != Word(0))

    def _do(self, other: Any, known: Callable[[int, int], int], unknown: Callable[[Any, Any], Any]) -> Word:
        other = word_of(other)
        if self.known and other.known:
            return Word(known(self.value, other.value))
        return Word(unknown(self.term, other.term))

    def _shift(self, by: Any, known: Callable[[int, int], int], unknown: Callable[[Any, Any], Any]) -> Word:
        by = word_of(by)
        if not bool(by < BITS):
            raise Undefined("a shift by 64 or more")
        return self._do(by, known, unknown)

    def _compare(self, other: Any, known: Callable[[int, int], bool], unknown: Callable[[Any, Any], Any]) -> Any:
        other = word_of(other)
        if self.known and other.known:
            return known(self.value, other.value)
        if self.value is other.value or self.term.eq(other.term):
            return known(0, 0)
        return Truth(z3.simplify(unknown(self.term, other.term)))

    def __add__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a + b, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a - b, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Word:
        return Word(other) - self

    def __mul__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a * b, lambda a, b: a * b)

    def __and__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a & b, lambda a, b: a & b)

    def __or__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a | b, lambda a, b: a | b)

    def __xor__(self, other: Any) -> Word:
        return self._do(other, lambda a, b: a ^ b, lambda a, b: a ^ b)

    def __invert__(self) -> Word:
        return self ^ _MASK

    def __lshift__(self, by: Any) -> Word:
        return self._shift(by, lambda a, b: a << b, lambda a, b: a << b)

    def __rshift__(self, by: Any) -> Word:
        return self._shift(by, lambda a, b: a >> b, z3.LShR)

    def __rlshift__(self, other: Any) -> Word:
        return Word(other) << self

    def __rrshift__(self, other: Any) -> Word:
        return Word(other) >> self

    def __floordiv__(self, other: Any) -> Word:
        return self._do(_divisor(other), lambda a, b: a // b, z3.UDiv)

    def __mod__(self, other: Any) -> Word:
        return self._do(_divisor(other), lambda a, b: a % b, z3.URem)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a == b, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a != b, lambda a, b: a != b)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a < b, z3.ULT)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a <= b, z3.ULE)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a > b, z3.UGT)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a >= b, z3.UGE)

    __radd__ = __add__
    __rmul__ = __mul__
    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__


def word_of(value: Any) -> Word:
    """Return a value as a word."""
    return value if isinstance(value, Word) else Word(value)


def _divisor(value: Any) -> Word:
    divisor = word_of(value)
    if not bool(divisor != 0):
        raise Undefined("a division by zero")
    return divisor


def choose(word: Word) -> int:
    """Return a value that the word can have on the path being run; other values are other paths."""
    value = 0
    while not bool(word == value):
        value += 1
    return value


def popcount(word: Any) -> Word:
    """Return the number of one bits: the sum of pairs, then of fours, and so on."""
    word = Word(word)
    if word.known:
        return Word(int(word.value).bit_count())
    sums = [z3.Extract(k, k, word.term) for k in range(BITS)]
    while len(sums) > 1:
        sums = [z3.ZeroExt(1, a) + z3.ZeroExt(1, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return Word(z3.ZeroExt(BITS - sums[0].size(), sums[0]))


def trailing_zeros(word: Any) -> Word:
    """Index of the lowest one bit; 64 when there is none."""
    word = Word(word)
    if word.known:
        return Word((word.value & -word.value).bit_length() - 1 if word.value else BITS)
    result = z3.BitVecVal(BITS, BITS)
    for k in range(BITS - 1, -1, -1):
        result = z3.If(z3.Extract(k, k, word.term) == 1, z3.BitVecVal(k, BITS), result)
    return Word(result)


def high_product(one: Any, other: Any) -> Word:
    """Return the upper word of a product."""
    one, other = Word(one), Word(other)
    if one.known and other.known:
        return Word(int(one.value) * int(other.value) >> BITS)
    product = z3.ZeroExt(BITS, one.term) * z3.ZeroExt(BITS, other.term)
    return Word(z3.Extract(2 * BITS - 1, BITS, product))


def either(condition: Truth | bool, yes: Any, no: Any) -> Word:
    """One of two words, without a fork."""
    return Word(z3.If(term_of(condition), Word(yes).term, Word(no).term))
