"""A finalizer that the collector runs while a kernel is compiled may need another kernel, and compile it there."""

import gc
from contextlib import contextmanager

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import cfunc, njit, types, vectorize
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

from latchfree.jit import kernel
from latchfree.jit.collecting import while_collecting
from latchfree.jit.lowering import lower, lowering
from latchfree.jit.turn import is_lowering
from latchfree.kinds import Word
from latchfree.native.module import emitted, linked


@kernel
def one_more(word: Word) -> Word:
    return word + np.uint64(1)


@kernel
def two_more(word: Word) -> Word:
    return one_more(one_more(word))


WORD_TO_WORD = types.uint64(types.uint64)


class Finalizing:
    """Stands for `one_more`; when numba asks for the type of it, another kernel is compiled first, once."""

    asked = 0

    @property
    def _numba_type_(self):
        Finalizing.asked += 1
        if Finalizing.asked == 1:
            lower(WORD_TO_WORD, lambda word: two_more(word))
        return one_more._numba_type_


FINALIZING = Finalizing()


def test_the_turn_comes_back_to_who_had_it():
    assert not is_lowering()
    with lowering():
        with lowering():
            assert is_lowering()
        assert is_lowering()
    assert not is_lowering()


def patched():
    return CPUContext.create_cfunc_wrapper, CPUContext.get_executable, *map(JITCodeLibrary.__dict__.get, METHODS)


METHODS = ("finalize", "_optimize_functions")
OWN = patched()


def test_numba_makes_c_functions_for_others_as_before():
    with lowering():
        ours = patched()
        assert not set(ours) & set(OWN)
        with lowering():
            pass
        assert patched() == ours
        with pytest.raises(AttributeError):
            CPUContext.create_cfunc_wrapper(cpu_target.target_context, None, None, None, None)
    assert patched() == OWN


def njit_when_called():
    return njit(lambda number: number + 1)


def njit_of_a_signature():
    return njit("int64(int64)")(lambda number: number + 1)


def c_function():
    made = cfunc("int64(int64)")(lambda number: number + 1)
    assert made.address, "a call would crash"
    return made.ctypes


def ufunc():
    return vectorize("int64(int64)")(lambda number: number + 1)


def kernel_when_called():
    return kernel(lambda number: number + 1)


class Cycle:
    """Garbage that only the collector finds; then it calls what it was given."""

    def __init__(self, finalize):
        self.finalize = finalize
        self.me = self

    def __del__(self):
        self.finalize()


COMPILED = [njit_when_called, njit_of_a_signature, c_function, ufunc, kernel_when_called]


@pytest.mark.parametrize("make", COMPILED)
def test_what_a_finalizer_compiles_is_as_if_nobody_lowered(make):
    answers, functions = [], []

    def finalize():
        function = make()
        functions.append(function)
        answers.append(function(3))

    class Collecting:
        """Stands for `one_more`; when numba asks for the type of it, the collector runs."""

        @property
        def _numba_type_(self):
            Cycle(finalize)
            ours = patched()
            gc.collect()
            assert is_lowering()
            assert patched() == ours, "who lowers goes on"
            return one_more._numba_type_

    collecting = Collecting()
    made = lower(WORD_TO_WORD, lambda word: collecting(two_more(word)))
    assert made._library.is_put_aside
    assert set(answers) == {4}
    assert {function(5) for function in functions} == {6}
    assert patched() == OWN


def test_a_collection_before_or_after_the_lowering_patches_nothing(monkeypatch):
    """One that begins when the collector is told already, and numba is not patched yet."""
    told = []

    @contextmanager
    def collecting(leave, come_back):
        with while_collecting(leave, come_back):
            gc.collect()
            told.append(patched() == OWN and not is_lowering())
            yield
            gc.collect()
            told.append(patched() == OWN and not is_lowering())

    monkeypatch.setattr("latchfree.jit.lowering.while_collecting", collecting)
    with lowering():
        assert is_lowering()
    assert told == [True, True]
    assert not is_lowering()


def test_who_asked_hears_of_collections_in_this_thread_and_no_longer_than_asked():
    heard = []
    before = list(gc.callbacks)
    with while_collecting(lambda: heard.append("leave"), lambda: heard.append("come back")):
        gc.collect()
        gc.callbacks[:] = before  # somebody else tidies up
        gc.collect()
    assert heard[:2] == ["leave", "come back"]
    assert len(heard) % 2 == 0
    assert gc.callbacks == before


def test_a_c_function_is_of_one_piece():
    """LLVM puts the function into what wraps it: no word goes through memory on its way to who calls."""
    symbol = "three_more"
    whole = linked({symbol: lower(WORD_TO_WORD, lambda word: one_more(two_more(word)))})
    emitted(whole, llvm.get_process_triple(), llvm.get_host_cpu_name(), near=True)
    body = str(whole.get_function(symbol))
    assert "ret i64" in body
    assert "call" not in body
    assert "alloca" not in body


def test_a_kernel_that_is_compiled_in_the_midst_of_another_one():
    def three_more(word):
        return FINALIZING(one_more(two_more(word)))

    made = lower(WORD_TO_WORD, three_more)
    assert Finalizing.asked
    assert made._library.is_put_aside, "it was compiled as Python would call it"
    assert "one_more" in made._library.get_llvm_str() or made._library._linking_libraries
