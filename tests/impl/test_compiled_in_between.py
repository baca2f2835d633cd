"""A finalizer that the collector runs while a kernel is compiled may need another kernel, and compile it there."""

import numpy as np
from numba import types

from latchfree.jit import kernel
from latchfree.jit.lowering import lower, lowering
from latchfree.jit.turn import is_lowering
from latchfree.kinds import Word


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


def test_a_kernel_that_is_compiled_in_the_midst_of_another_one():
    def three_more(word):
        return FINALIZING(one_more(two_more(word)))

    made = lower(WORD_TO_WORD, three_more)
    assert Finalizing.asked
    assert made._library.is_put_aside, "it was compiled as Python would call it"
    assert "one_more" in made._library.get_llvm_str() or made._library._linking_libraries
