"""The slot of a hash in a C-node: its number is the count of the bitmap's bits below the flag.

The count is an abstract function here. The proofs use three facts about it: the counts of disjoint parts add up, a
single bit counts one, and a word has at most 64 bits. So the proofs need no adders, and hold for every place of a flag
at once.
"""

from __future__ import annotations

import weakref
from typing import Any

import z3

from latchfree import words
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import BITS, Word, either, popcount

_COUNT = z3.Function("count", z3.BitVecSort(BITS), z3.BitVecSort(BITS))


class _Counting:
    """Counts of bits, in one run of a lemma."""

    def __init__(self, case: Case, code: Code) -> None:
        self._case = case
        # Functions and their globals refer to each other, so they are left to the garbage collector, which may run in
        # another thread. Z3 would not stand that: nothing they refer to may hold a term, or the solver.
        me = weakref.proxy(self)
        self.position = code.abstracting(popcount=lambda word: me.count(word))[words.position]

    def count(self, word: Any) -> Word:
        """Return the number of one bits."""
        if Word(word).known:
            return popcount(word)
        found = Word(_COUNT(Word(word).term))
        self._case.given(found <= BITS)
        return found

    def parts(self, whole: Any, single: Any, *others: Any) -> None:
        """If disjoint parts, of which one is a single bit, make up the whole, their counts add up."""
        rest, apart, total = single, True, Word(1)
        for other in others:
            apart = apart & (rest & other == 0)
            rest, total = rest | other, total + self.count(other)
        holds = apart & (rest == whole)
        self._case.given(~holds | (self.count(whole) == total))


def _flag(case: Case, name: str) -> Word:
    return Word(1) << case.word(name, below=BITS)


def _within(case: Case, code: Code) -> None:
    counting = _Counting(case, code)
    bitmap, flag = case.word("bitmap"), _flag(case, "bit")
    case.assume(bitmap & flag != 0)
    counting.parts(bitmap, flag, bitmap & (flag - 1), bitmap & ~(flag | (flag - 1)))
    case.claim("a flag that is set has one of the slots", counting.position(bitmap, flag) < counting.count(bitmap))


def _in_order(case: Case, code: Code) -> None:
    counting = _Counting(case, code)
    bitmap, lower, higher = case.word("bitmap"), _flag(case, "lower"), _flag(case, "higher")
    case.assume((lower < higher) & (bitmap & lower != 0))
    between = bitmap & (higher - 1) & ~(lower | (lower - 1))
    counting.parts(bitmap & (higher - 1), lower, bitmap & (lower - 1), between)
    one, other = (counting.position(bitmap, flag) for flag in (lower, higher))
    case.claim("a lower flag has an earlier slot", one < other)


def _setting(case: Case, code: Code) -> None:
    counting = _Counting(case, code)
    bitmap, flag, other = case.word("bitmap"), _flag(case, "bit"), _flag(case, "other")
    case.assume((bitmap & flag == 0) & (flag != other))
    counting.parts((bitmap | flag) & (other - 1), flag, bitmap & (other - 1))
    before, after = (counting.position(bits, other) for bits in (bitmap, bitmap | flag))
    case.claim("slots above move up by one, the others stay", after == before + either(flag < other, 1, 0))


def _clearing(case: Case, code: Code) -> None:
    counting = _Counting(case, code)
    bitmap, flag, other = case.word("bitmap"), _flag(case, "bit"), _flag(case, "other")
    case.assume((bitmap & flag != 0) & (flag != other))
    counting.parts(bitmap & (other - 1), flag, (bitmap ^ flag) & (other - 1))
    before, after = (counting.position(bits, other) for bits in (bitmap, bitmap ^ flag))
    case.claim("slots above move down by one, the others stay", before == after + either(flag < other, 1, 0))


LEMMAS = (
    Lemma(
        "position-within",
        "the slot of a flag is one of the slots",
        _within,
        Twin(words.position, "flag - _1", "((flag << _1) - _1)", "the flag itself is counted too"),
    ),
    Lemma(
        "position-order",
        "different flags have different slots, in the order of the flags",
        _in_order,
        Twin(words.position, "(flag - _1)", "~(flag - _1)", "slots are counted from the top"),
    ),
    Lemma(
        "position-insert",
        "setting a flag moves the slots above it up by one and leaves the others",
        _setting,
        Twin(words.position, "flag - _1", "flag", "only the flag itself is looked at"),
    ),
    Lemma(
        "position-remove",
        "clearing a flag moves the slots above it down by one and leaves the others",
        _clearing,
        Twin(words.position, "(flag - _1)", "~(flag - _1)", "slots are counted from the top"),
    ),
)
