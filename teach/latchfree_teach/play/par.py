"""Par: the fewest changes of threads after which a program has failed (0-1 search over state and last thread)."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from latchfree_teach.play.walking import State


def changes(number: int) -> str:
    """Return a number of changes in words: "1 change", "2 changes"."""
    return "1 change" if number == 1 else f"{number} changes"


def shortest(first: State) -> tuple[int, list[int]] | None:
    """Return the fewest changes to a violation and the threads of such a way, a thread a move; None if there is none.

    A violation counts as soon as no order explains what has been returned, while other operations may be under way.
    """
    cost: dict[tuple[Hashable, int], int] = {(first.key, -1): 0}
    before: dict[tuple[Hashable, int], tuple[Hashable, int]] = {}
    queue = deque([(first, -1, 0)])
    while queue:
        state, last, so_far = queue.popleft()
        here: tuple[Hashable, int] = (state.key, last)
        if cost[here] < so_far:
            continue
        if state.is_bad:
            way = []
            while here in before:
                way.append(here[1])
                here = before[here]
            return so_far, way[::-1]
        for thread, (_, after) in sorted(state.moves.items()):
            total = so_far + (last not in (-1, thread))
            there = (after.key, thread)
            if total < cost.get(there, 1 << 30):
                cost[there] = total
                before[there] = here
                (queue.append if total > so_far else queue.appendleft)((after, thread, total))
    return None


def fewest_changes(rows: Sequence[list[Any]]) -> int | None:
    """Return the fewest changes of threads to a violation on a page, None if there is none; rows are its states."""
    cost = {(0, -1): 0}
    queue = deque([(0, -1)])
    while queue:
        state, last = queue.popleft()
        so_far = cost[state, last]
        if rows[state][5] not in ("", "done"):
            return so_far
        for column, target, *_ in rows[state][3]:
            more = int(last not in (-1, column))
            if so_far + more < cost.get((target, column), 1 << 30):
                cost[target, column] = so_far + more
                (queue.append if more else queue.appendleft)((target, column))
    return None
