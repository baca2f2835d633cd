"""A model of the user's own in the compiled searches: its step is called by address.

A state is a chain of words in the store of `states`, the last word on top, so equal states have equal numbers and the
memos stay exact. A row is ``(OWN, 0, call, 0, whether it changes nothing)``, and the words of calls stand in a table.
The addresses of the step and of the table, and room for the words of two states, are in `shape`, so the searches are
compiled once for all models.
"""

from __future__ import annotations

from typing import Any, Final

from latchfree.jit import instruction, kernel, when_started
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.states import cons
from latchfree_lincheck.history.timeline import Ints, int64

# The fields of `shape` after those of built-in models.
STEP: Final = 3
"""The address of the step: ``step(call, state, after)``, addresses of words, returns 1, 0 or, if it failed, -1."""
CALLS: Final = 4
"""The address of the words of all calls."""
CALL_WORDS: Final = 5
"""How many words a call has."""
WORDS: Final = 6
"""How many words a state has."""
FAILED: Final = 7
"""One more than the call that the step failed on, or minus that if it changed what it may not, or 0."""
HELD: Final = 8
"""Where the words of a state stand; after them the words of the state after it."""


_call: Any = instruction("latchfree_lincheck.engine.compiled_models.call_step", "call_step")


def _load() -> None:
    from latchfree_lincheck.engine.compiled_models.call_step import call_step  # noqa: F401 -- the call above finds it


when_started(_load)


@kernel
def judge_own(nodes: Ints, shape: Ints, call: int, state: int, reads: bool) -> bool:
    """Return whether a call is legal in a state; the words of the next state stay in `shape`.

    A call that is legal and `reads` must leave the state as it is.
    """
    words = shape[WORDS]
    at = int64(state)
    for place in range(words - 1, -1, -1):
        shape[HELD + place] = nodes[at, 1]
        at = nodes[at, 0]
    held = int64(shape.ctypes.data) + 8 * HELD
    legal = _call(shape[STEP], shape[CALLS] + 8 * shape[CALL_WORDS] * call, held, held + 8 * words)
    if legal < 0:
        shape[FAILED] = call + 1
    if reads and legal > 0:
        for place in range(words):
            if shape[HELD + words + place] != shape[HELD + place]:
                shape[FAILED] = -call - 1
    return bool(legal > 0)


@kernel
def after_own(nodes: Ints, slots: Ints, size: Ints, shape: Ints) -> int:
    """Return the state that `judge_own` found last."""
    state = int64(ABSENT)
    words = shape[WORDS]
    for place in range(words):
        state = int64(cons(nodes, slots, size, state, shape[HELD + words + place]))
    return int(state)
