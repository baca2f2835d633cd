"""What is wrong with a target's code is said in one line: the function, the problem, where to read on."""

import numpy as np
import pytest

from latchfree.atomics import load
from latchfree.jit import kernel
from latchfree_explore import Target, explore
from latchfree_explore.examples.counter import CounterModel, increment


@kernel
def adds_text(mem, root, thread):
    return load(mem, root) + "x"


@kernel
def misses_a_name(mem, root, thread):
    return lod(mem, root)  # noqa: F821


@kernel
def shouts(word):
    return word.upper()


@kernel
def calls_one_that_is_wrong(mem, root, thread):
    return shouts(load(mem, root))


@kernel
def opens_a_file(mem, root, thread):
    with open("x") as file:  # noqa: PTH123
        return file


@kernel
def returns_a_fraction(mem, root, thread):
    return 1.5


@kernel
def takes_too_little(mem, root):
    return load(mem, root)


def not_compiled(mem, root, thread):
    return 1


@kernel
def wrong_setup(mem, threads):
    return np.uint64(mem.root)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (adds_text, r"adds_text \(test_compiling\.py:\d+\) cannot be explored: there is no add\(uint64, "),
        (misses_a_name, r"misses_a_name .* name 'lod' is not defined"),
        (calls_one_that_is_wrong, r"Unknown attribute 'upper' of type uint64"),
        (opens_a_file, r"opens_a_file .* 'with \(context manager\) as"),
        (returns_a_fraction, "it returns float64, not an integer, a truth value or nothing"),
        (takes_too_little, r"it takes \(mem, root\), not \(mem, root, thread\) and arguments"),
        (not_compiled, "is no kernel; decorate it with latchfree.jit.kernel"),
    ],
)
def test_a_wrong_operation(function, problem):
    target = Target("mine", CounterModel(), {"increment": function})
    with pytest.raises(ValueError, match=problem) as caught:
        explore(target, scenario="increment | increment")
    message = str(caught.value)
    assert message.startswith("mine.increment: ")
    assert message.endswith("; see docs/exploring.md, 'A structure of your own'")
    assert "\n" not in message


def test_a_wrong_setup():
    target = Target("mine", CounterModel(), {"increment": increment}, setup=wrong_setup)
    with pytest.raises(
        ValueError, match=r"mine\.setup: wrong_setup \(.*\) cannot be explored: Unknown attribute 'root'"
    ):
        explore(target, scenario="increment | increment")


@kernel
def reads_by_a_constant(mem, root, thread):
    return load(mem, root) + mem[0]


@kernel
def reads_by_a_variable(mem, root, thread):
    return mem[root]


@kernel
def reads_a_slice(mem, root, thread):
    return mem[0:2][0]


@kernel
def writes_by_a_variable(mem, root, thread):
    mem[root] = np.uint64(1)
    return 0


@kernel
def unpacks(mem, root, thread):
    word, _ = mem
    return word


@kernel
def takes_the_base(mem, root, thread):
    return mem.base


@kernel
def iterates(mem, root, thread):
    total = np.uint64(0)
    for word in mem:
        total += word
    return total


@kernel
def asks_for_the_length(mem, root, thread):
    return len(mem)


@kernel
def compares(mem, root, thread):
    return mem == mem


@kernel
def calls_one_that_reads(mem, root, thread):
    return reads_by_a_variable(mem, root, thread)


_LOAD, _STORE = r"use load\(mem, at\)", r"use store\(mem, at, value\)"


@pytest.mark.parametrize(
    ("function", "wrong", "line", "advice"),
    [
        (reads_by_a_constant, reads_by_a_constant, 2, _LOAD),
        (reads_by_a_variable, reads_by_a_variable, 2, _LOAD),
        (reads_a_slice, reads_a_slice, 2, _LOAD),
        (writes_by_a_variable, writes_by_a_variable, 2, _STORE),
        (unpacks, unpacks, 2, _LOAD),
        (takes_the_base, takes_the_base, 2, _LOAD),
        (iterates, iterates, 3, _LOAD),
        (asks_for_the_length, asks_for_the_length, 2, _LOAD),
        (compares, compares, 2, _LOAD),
        (calls_one_that_reads, reads_by_a_variable, 2, _LOAD),
    ],
)
def test_memory_is_touched_by_atomics_only(function, wrong, line, advice):
    target = Target("mine", CounterModel(), {"increment": function})
    code = wrong.py_func.__code__
    where = rf"{code.co_name} \(test_compiling\.py:{code.co_firstlineno + line}\)"
    with pytest.raises(ValueError, match=rf"mine\.increment: {where} cannot be explored: it .*{advice}; ") as caught:
        explore(target, scenario="increment | increment")
    assert "\n" not in str(caught.value)
