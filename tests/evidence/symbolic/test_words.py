"""Words behave as compiled code does: against numpy, for known numbers and for unknown ones that are then known."""

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Lemma, prove
from latchfree_evidence.symbolic.words import Truth, Undefined, Word, either, popcount, trailing_zeros

WORDS = st.integers(0, (1 << 64) - 1) | st.integers(0, 70) | st.integers(0, 63).map(lambda k: 1 << k)

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def unknown(value):
    """A Z3 term of a value that no rewriting of Python's sees through."""
    return Word(z3.BitVecVal(value, 64))


def number(word):
    """The number a word without unknowns comes to."""
    if isinstance(word, Word):
        return z3.simplify(word.term).as_long()
    return z3.is_true(z3.simplify(word.term)) if isinstance(word, Truth) else bool(word)


@pytest.mark.parametrize("sign", OPERATIONS)
@given(WORDS, WORDS)
def test_arithmetic_is_that_of_unsigned_words(sign, a, b):
    if (sign in ("<<", ">>") and b >= 64) or (sign in ("//", "%") and b == 0):
        with pytest.raises(Undefined):
            OPERATIONS[sign](Word(a), Word(b))
        return
    with np.errstate(over="ignore"):
        expected = OPERATIONS[sign](np.uint64(a), np.uint64(b))
    for one, other in ((Word(a), Word(b)), (unknown(a), unknown(b)), (Word(a), np.uint64(b)), (unknown(a), b)):
        assert number(OPERATIONS[sign](one, other)) == expected
    if sign in "+-*&|^":
        assert number(OPERATIONS[sign](np.uint64(a), unknown(b))) == expected
        assert number(OPERATIONS[sign](a, Word(b))) == expected


@given(WORDS)
def test_bits_are_counted(a):
    for word in (Word(a), unknown(a)):
        assert number(popcount(word)) == a.bit_count()
        assert number(trailing_zeros(word)) == ((a & -a).bit_length() - 1 if a else 64)
        assert number(~word) == a ^ ((1 << 64) - 1)
    assert number(either(unknown(a) == a, 1, 2)) == 1


def test_the_value_of_an_unknown_truth_is_not_to_be_had_outside_a_run():
    with pytest.raises(TypeError, match="outside a run"):
        bool(Word(z3.BitVec("x", 64)) == 3)


def smallest(a, b):
    return a if a < b else b


def total(n):
    result = n - n
    for k in range(n):
        result += np.uint64(k)
    return result


def double(a):
    return a + a


CODE = Code({})


def a_lemma(state, function=double, old="a + a", new="a"):
    return Lemma("lemma", "says", state, Twin(function, old, new, "wrong"))


def test_every_path_is_proved():
    def state(case, code):
        a, b = case.word("a"), case.word("b")
        found = code[smallest](a, b)
        case.claim("one of the two", (found == a) | (found == b))
        case.claim("not above either", (found <= a) & (found <= b))

    lemma = a_lemma(state, smallest, "a < b", "a > b")
    proof = prove(lemma, CODE)
    assert (proof.answer, proof.paths) == ("proved", 2)
    twin = prove(lemma, Code({}, lemma.twin))
    assert twin.answer == "refuted"
    assert twin.claim == "not above either"
    assert twin.counterexample["a"] != twin.counterexample["b"]


def test_a_loop_is_run_for_every_number_of_rounds():
    def state(case, code):
        n = case.word("n", below=12)
        case.claim("the sum", code[total](n) * 2 == n * (n - 1))

    proof = prove(a_lemma(state, total, "np.uint64(k)", "np.uint64(1)"), CODE)
    assert (proof.answer, proof.paths) == ("proved", 12)


def test_what_fails_in_one_case_only_is_found():
    def state(case, code):
        a = case.word("a")
        case.claim("more", (code[double](a) > a) | (a == 0) | (a >= 1 << 63) | (a == 123_456_789))
        case.claim("never that", code[double](a) != 2 * 123_456_789)

    proof = prove(a_lemma(state), CODE)
    assert proof.answer == "refuted"
    assert proof.claim == "never that"
    assert (2 * proof.counterexample["a"]) % (1 << 64) == 2 * 123_456_789


def test_assumptions_leave_out_cases():
    def state(case, code):
        a = case.word("a")
        case.assume(a < 1 << 63)
        case.assume(a > 0)
        case.claim("more", code[double](a) > a)

    assert prove(a_lemma(state), CODE).answer == "proved"


def test_an_undefined_shift_is_a_violation():
    def shift(a, b):
        return a << b

    def state(case, code):
        code[shift](case.word("a"), case.word("b"))

    proof = prove(a_lemma(state, shift, "a << b", "a"), CODE)
    assert proof.answer == "refuted"
    assert "shift by 64" in proof.claim
    assert proof.counterexample["b"] >= 64


def test_time_runs_out():
    def state(case, code):
        a = case.word("a")
        case.claim("squares end in 00 or 01", a * a & 2 == 0)

    assert prove(a_lemma(state), CODE).answer == "proved"
    assert prove(a_lemma(state), CODE, timeout=0).answer == "unknown"


def test_a_twin_of_text_that_is_gone_is_an_error():
    with pytest.raises(ValueError, match="double has 'a - a' 0 times, expected once"):
        Twin(double, "a - a", "a", "wrong").python()
    with pytest.raises(ValueError, match="'a' 3 times"):
        Twin(double, "a", "b", "wrong").python()


def test_code_that_needs_something_unknown_is_an_error():
    def reads():
        return SECRET

    with pytest.raises(TypeError, match="nothing is known of 'SECRET'"):
        CODE[reads]


SECRET = object()
