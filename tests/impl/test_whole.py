"""A kernel that Python calls is compiled with all it calls at once, and behaves as if numba had compiled each."""

import ctypes
import threading

import numba
import numpy as np
import pytest
from numba import types

from latchfree.jit import kernel
from latchfree.jit.lazy import callback


@kernel
def inner(n):
    if n < 0:
        raise ValueError("negative", n)
    return n + np.zeros(3)[0] + 1


@kernel
def outer(n):
    return inner(n) * 2


@kernel
def other(n):
    return inner(n) * 3


def test_what_is_called_is_not_compiled_by_itself():
    @kernel
    def called(n):
        return n + 1

    @kernel
    def caller(n):
        return called(n) * 2

    assert caller(20) == 42
    assert caller.dispatcher.signatures == [(types.int64,)]
    assert not called.dispatcher.signatures
    assert called(20) == 21
    assert called.dispatcher.signatures == [(types.int64,)]


@pytest.mark.parametrize("function", [inner, outer, other], ids=["inner", "outer", "other"])
def test_errors_of_what_is_called(function):
    with pytest.raises(ValueError, match="negative") as caught:
        function(-7)
    assert caught.value.args == ("negative", -7)


def test_a_function_of_somebody_else_calls_it():
    assert outer(1) == 4

    @numba.njit
    def mine(n):
        return outer(n) + inner(n)

    assert mine(20) == 63


def test_a_c_function():
    made = callback(types.float64(types.int64), outer.py_func)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(made.address)(20) == 42


def test_one_that_cannot_be_compiled_leaves_numba_as_it_was():
    @kernel
    def wrong(n):
        return inner(n) + "text"

    with pytest.raises(numba.TypingError):
        wrong(1)

    @numba.njit
    def right(n):
        return np.sqrt(n)

    assert right(4.0) == 2.0
    assert outer(2.0) == 6.0


def test_threads_compile_at_the_same_time():
    @kernel
    def first(n):
        return outer(n) + 1

    @kernel
    def second(n):
        return outer(n) + 2

    @numba.njit
    def third(n):
        return np.zeros(n).sum() + 3

    found = {}
    threads = [threading.Thread(target=lambda f=f, name=name: found.update({name: f(20)})) for name, f in
               (("first", first), ("second", second), ("third", third))]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"first": 43, "second": 44, "third": 3}
