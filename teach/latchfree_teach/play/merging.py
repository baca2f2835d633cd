"""Make states with the same look and the same future one.

Two states may differ in what their threads have seen, and yet nothing that follows tells them apart: a loop that has
failed twice goes on as a fresh one does. Each move raises `State.rank`, so there is no circle, and the states are
merged from the last to the first (as hash-consing does with terms).
"""

from __future__ import annotations

from collections.abc import Hashable

from latchfree_teach.play.walking import State


def merged(states: list[State]) -> tuple[list[State], dict[Hashable, int]]:
    """Return one state of each class, in the order given, and for the key of each state the number of its class."""
    classes: dict[Hashable, int] = {}
    of: dict[Hashable, int] = {}
    for state in sorted(states, key=lambda state: -state.rank):
        moves = tuple((thread, *move[:9], of[after.key]) for thread, (move, after) in sorted(state.moves.items()))
        results = tuple(sorted(state.results.items()))
        look = (state.memory, state.threads, results, state.held, state.status, state.enabled, state.pending, moves)
        of[state.key] = classes.setdefault(look, len(classes))
    kept: list[State] = []
    number: dict[int, int] = {}
    for state in states:
        if of[state.key] not in number:
            number[of[state.key]] = len(kept)
            kept.append(state)
    return kept, {key: number[each] for key, each in of.items()}
