"""Texts that no later get can tell from each other are one state.

Example: the history appends "a" and "b" in two orders, and the next get comes after a put. Nobody sees "ab" or "ba", so
both are the same state, JUNK.

A text matters only to gets before the next put, and those return something that it is a prefix of. So a text that is
no prefix of what any get returns from now on is as good as any other such: gets are illegal on it and on all that is
appended to it, until a put ends it. All of them become JUNK. Appends in flight are then put in every order only as far
as somebody looks.

`uses` says for each node of the store until which event it matters: the last return of a get that it is a prefix of.
The texts that gets return are in the store before the search begins; what comes later matters to nobody.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, GET
from latchfree_lincheck.engine.compiled_models.states import find
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

JUNK: Final = -9
"""A text that no later get returns, nor anything it is a prefix of."""


@kernel
def last_uses(uses: Ints, nodes: Ints, events: Ints, return_: Ints, rows: Rows) -> None:
    """Write for each of the first nodes the last return of a get that it is a prefix of; `uses` is -1 before."""
    for rank in range(len(events) - 1, -1, -1):
        i = events[rank] >> 1
        if events[rank] & 1 == 1 and rows[i, 0] == GET and return_[i] != NEVER_RETURNS:
            at = rows[i, 4]
            while at >= 0 and uses[at] < 0:
                uses[at] = rank
                at = nodes[at, 0]


@kernel
def seen_as(uses: Ints, state: int, event: int) -> int:
    """Return the text, or JUNK if no get that returns from `event` on can tell."""
    if state == ABSENT or (0 <= state < len(uses) and uses[state] >= event):
        return state
    return JUNK


@kernel
def appended(nodes: Ints, slots: Ints, uses: Ints, text: int, piece: Ints, event: int) -> int:
    """Return the text followed by a piece, or JUNK if no get that returns from `event` on can tell.

    A text that matters is in the store, and so is all that it begins with: nothing is added.
    """
    for byte in piece:
        text = find(nodes, slots, text, byte)
        if not (0 <= text < len(uses) and uses[text] >= event):
            return JUNK
    return text
