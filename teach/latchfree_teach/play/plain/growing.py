"""Which states of a program of plain Python a page has.

All, where there are few. Else those within one change of threads more than the first failure needs. If there is no room
for that, those a few moves away from one failing schedule; and if no schedule fails, those within as many changes of
threads as there is room for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from latchfree_teach.play.plain.walking import State, Walker

MOST_STATES: Final = 2_500
_MOST_CHANGES: Final = 6
_MOST_AWAY: Final = 4


def chosen(walker: Walker, changes: int | None, failing: Callable[[], list[int]]) -> tuple[list[State], str]:
    """Return the states of a page, and which they are in words.

    Parameters
    ----------
    walker : Walker
        Runs the program from a beginning of a schedule.
    changes : int, optional
        Only the states within so many changes of threads.
    failing : callable
        Looks for a failing schedule; returns an empty list if there is none.

    Raises
    ------
    ValueError
        If there are too many.
    """
    graph = _Graph(walker)
    if changes is None:
        states = graph.within(None)
        if states is not None:
            return states, ""
    best: tuple[list[State], str] | None = None
    for most in range(_MOST_CHANGES + 1) if changes is None else [changes]:
        states = graph.within(most)
        if states is None:
            break
        failed = best is not None and _fails(best[0])
        best = states, f"up to {most} change{'' if most == 1 else 's'} of threads"
        if failed:
            break
    if changes is None and (best is None or not _fails(best[0])):
        near = graph.widest(failing())
        best = best if near is None else (near, "near one failing schedule")
    if best is None:
        raise ValueError(f"more than {MOST_STATES:,} states; fix: fewer changes of threads, or a shorter program")
    return best


def _fails(states: Sequence[State]) -> bool:
    return any(state.is_bad for state in states)


class _Graph:
    """The states found so far."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._root = walker.root()
        self._found: dict[Hashable, State] = {self._root.key: self._root}

    def _step(self, state: State, thread: int) -> State:
        if thread not in state.moves:
            move, after = self._walker.step(state, thread)
            state.moves[thread] = move, self._found.setdefault(after.key, after)
        return state.moves[thread][1]

    def within(self, most: int | None) -> list[State] | None:
        """Return the states that are reached with so many changes of threads; None if they are too many."""
        cost: dict[tuple[Hashable, int], int] = {(self._root.key, -1): 0}
        queue = deque([(self._root, -1)])
        reached: dict[Hashable, State] = {self._root.key: self._root}
        while queue:
            state, last = queue.popleft()
            so_far = cost[state.key, last]
            for thread in state.enabled:
                total = so_far + int(most is not None and last not in (-1, thread))
                if most is not None and total > most:
                    continue
                after = self._step(state, thread)
                reached.setdefault(after.key, after)
                if len(reached) > MOST_STATES:
                    return None
                mark = after.key, thread if most is not None else -1
                if total < cost.get(mark, 1 << 30):
                    cost[mark] = total
                    (queue.append if total > so_far else queue.appendleft)((after, mark[1]))
        return list(reached.values())

    def widest(self, schedule: Sequence[int]) -> list[State] | None:
        """Return the states as many moves away from a schedule as there is room for; None if there is no schedule."""
        spine = [self._root]
        for thread in schedule:
            if thread not in spine[-1].enabled:
                break
            spine.append(self._step(spine[-1], thread))
        best = spine if schedule else None
        reached = {state.key: state for state in spine}
        edge = list(reached.values())
        for _ in range(_MOST_AWAY if schedule else 0):
            further: dict[Hashable, State] = {}
            for state in edge:
                for thread in state.enabled:
                    after = self._step(state, thread)
                    if after.key not in reached:
                        further.setdefault(after.key, after)
                if len(reached) + len(further) > MOST_STATES:
                    return best
            reached |= further
            edge = list(further.values())
            best = list(reached.values())
        return best
