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
