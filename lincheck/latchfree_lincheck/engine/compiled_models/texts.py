"""The states of many strings at once: each string goes on from the longest other string that it begins with.

Example: of "a", "ab", "abc" and "ad", in this order, "abc" goes on from "ab" by one byte, and "ad" from "a".

String i is ``text[bounds[i]:bounds[i + 1]]``. The strings are sorted, so all between a string and the longest one that
it begins with begin with that one, too: it is the string before, or one that the string before goes on from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.states import States, cons
from latchfree_lincheck.history.timeline import Ints

Text = npt.NDArray[np.uint8]


@kernel
def begins_with(text: Text, bounds: Ints, string: int, other: int) -> bool:
    """Return whether a string begins with another one."""
    start, low, size = bounds[string], bounds[other], bounds[other + 1] - bounds[other]
    if bounds[string + 1] - start < size:
        return False
    at = 0
    while at < size and text[start + at] == text[low + at]:
        at += 1
    return bool(at == size)


@kernel
def nest(text: Text, bounds: Ints, befores: Ints) -> int:
    """Find the longest other string that each string begins with, -1 for none; return how many bytes are left."""
    left = 0
    for i in range(len(befores)):
        before = i - 1
        while before >= 0 and not begins_with(text, bounds, i, before):
            before = befores[before]
        befores[i] = before
        left += bounds[i + 1] - bounds[i]
        if before >= 0:
            left -= bounds[before + 1] - bounds[before]
    return int(left)


@kernel
def extend_all(states: States, text: Text, bounds: Ints, befores: Ints, numbers: Ints) -> None:
    """Give numbers to strings, of which `befores` tells the others that they begin with."""
    for i in range(len(befores)):
        number, at, before = ABSENT, bounds[i], befores[i]
        if before >= 0:
            number, at = numbers[before], at + bounds[before + 1] - bounds[before]
        while at < bounds[i + 1]:
            number = cons(states.nodes, states.slots, states.size, number, text[at])
            at += 1
        numbers[i] = number
