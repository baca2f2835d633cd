"""The states of many strings at once: each string goes on from the longest other string that it begins with."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.states import States, cons
from latchfree_lincheck.history.timeline import Ints


@kernel
def extend_all(states: States, befores: Ints, bounds: Ints, pieces: Ints, numbers: Ints) -> None:
    """Give numbers to strings: string i is string ``befores[i]``, or nothing if that is -1, and bytes of its own.

    `befores` are below i, and the bytes of string i are ``pieces[bounds[i]:bounds[i + 1]]``.
    """
    for i in range(len(befores)):
        text = numbers[befores[i]] if befores[i] >= 0 else ABSENT
        for at in range(bounds[i], bounds[i + 1]):
            text = cons(states.nodes, states.slots, states.size, text, pieces[at])
        numbers[i] = text
