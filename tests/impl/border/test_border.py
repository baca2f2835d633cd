"""Arguments and results cross the border between Python and compiled code, or are refused with an error."""

import gc
import sys
from typing import NamedTuple

import numpy as np
import pytest

from latchfree.border import FLAG, GIVEN_INTS, INT, NONE, PAIR, WORD, WORDS, Border, Call, Fields
from latchfree.jit import kernel


class Two(NamedTuple):
    first: object
    second: object


@kernel
def total(word, numbers, column, out):
    found = np.int64(word)
    for k in range(len(numbers)):
        found += numbers[k] * column[1][k]
        out[k] = np.uint64(found)
    return found


@kernel
def apart(two, flag):
    return np.uint64(two.first), np.int64(two.second) if flag else np.int64(-1)


@kernel
def nothing(number):
    pass


CALLS = Border(
    __name__,
    {
        "total": Call(total, (WORD, GIVEN_INTS, Fields((WORD, GIVEN_INTS)), WORDS), INT, nogil=True),
        "apart": Call(apart, (Fields((WORD, INT), Two), FLAG), PAIR),
        "nothing": Call(nothing, (INT,), NONE),
    },
)
NUMBERS = np.arange(5)


def test_what_crosses():
    out = np.zeros(5, np.uint64)
    assert CALLS.total(7, NUMBERS, (3, NUMBERS), out) == 37
    assert out.tolist() == [7, 8, 12, 21, 37]
    assert CALLS.total(np.uint64(7), NUMBERS[1:3], (0, NUMBERS[2:]), out) == 7 + 1 * 2 + 2 * 3
    assert CALLS.apart(Two((1 << 64) - 1, -5), True) == ((1 << 64) - 1, -5)
    assert CALLS.apart((1, 2), False) == (1, -1)
    assert CALLS.nothing(-(1 << 63)) is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1,), TypeError),
        ((1, NUMBERS, (1, NUMBERS), np.zeros(5, np.uint64), 1), TypeError),
        (("x", NUMBERS, (1, NUMBERS), np.zeros(5, np.uint64)), TypeError),
        ((1, NUMBERS[::2], (1, NUMBERS), np.zeros(5, np.uint64)), (ValueError, BufferError)),
        ((1, NUMBERS, 3, np.zeros(5, np.uint64)), (TypeError, SystemError)),
        ((1, NUMBERS, (1,), np.zeros(5, np.uint64)), TypeError),
        ((1, NUMBERS, (1, None), np.zeros(5, np.uint64)), TypeError),
        ((1, NUMBERS.astype(np.int32), (1, NUMBERS), np.zeros(5, np.uint64)), TypeError),
        ((1, np.frombuffer(bytes(41), np.int64, offset=1), (1, NUMBERS), np.zeros(5, np.uint64)), TypeError),
        ((1, NUMBERS, (1, NUMBERS), bytes(40)), (TypeError, BufferError)),
    ],
)
def test_what_is_refused(arguments, error):
    with pytest.raises(error):
        CALLS.total(*arguments)


def test_an_integer_that_does_not_fit():
    with pytest.raises(OverflowError):
        CALLS.nothing(1 << 63)


def test_nothing_is_kept():
    numbers, out = np.arange(5), np.zeros(5, np.uint64)
    before = sys.getrefcount(numbers), sys.getrefcount(out)
    for _ in range(100):
        CALLS.total(7, numbers, (3, numbers), out)
        with pytest.raises(TypeError):
            CALLS.total(7, numbers, (3, numbers), "x")
        with pytest.raises(TypeError):
            CALLS.total(7, numbers, ("x", numbers), out)
    gc.collect()  # tracebacks
    assert (sys.getrefcount(numbers), sys.getrefcount(out)) == before
    numbers.resize(6, refcheck=False)  # refused while a buffer is lent


def test_a_call_that_is_not_declared():
    with pytest.raises(AttributeError, match="declares no call 'more'"):
        CALLS.more  # noqa: B018
