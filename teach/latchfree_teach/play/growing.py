"""Find the states of a program: all of them, those within some changes of threads, or those near one schedule.

Which words are contended is found on the way: where a word turns out to be touched by two threads, one of which writes,
the word is marked and the search begins again. So in the graph that is returned no private access is one that another
thread could have seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from latchfree_teach.play.par import changes
from latchfree_teach.play.walking import State, Walker

#: States that a search keeps at most, before those with one future are merged.
MOST_STATES: Final = 60_000


@dataclass
class StateGraph:
    """The states of a program, and the moves between them.

    Attributes
    ----------
    states : list of State
        In the order in which they were found; the first is the beginning.
    contended : list of int
        The words that a move is an access to.
    bound : str
        "" if all states are there; else which are, in words.
    complete : bool
        Whether the search found all states within its bound, and was not stopped by its limit.
    walker : Walker
    """

    states: list[State]
    contended: list[int]
    bound: str
    complete: bool
    walker: Walker = field(repr=False)


def whole(walker: Walker, *, most: int = MOST_STATES, fine: bool = False) -> StateGraph:
    """Find all states; with `fine`, every access is a move."""
    return _settled(walker, None, (), most, "", fine)


def within(walker: Walker, switches: int, *, most: int = MOST_STATES, fine: bool = False) -> StateGraph:
    """Find the states that are reached with at most so many changes of threads."""
    return _settled(walker, switches, (), most, f"up to {changes(switches)} of threads", fine)


def corridor(walker: Walker, schedule: Sequence[int], moves: int, *, most: int = MOST_STATES) -> StateGraph:
    """Find the states at most so many moves away from a schedule of accesses."""
    return _settled(walker, moves, schedule, most, f"up to {moves} moves away from one failing schedule", False)


def around(walker: Walker, moves: Sequence[int], *, most: int) -> StateGraph:
    """Find the states along some moves, as far as they can be made, and so many of those that follow, nearest first."""
    if not walker.contended:
        walker.mark(walker.sample())
    while True:
        states = _around(walker, moves, most)
        if not walker.unmarked():
            return StateGraph(states, sorted(walker.contended), "near where you are", True, walker)
        walker.mark(walker.unmarked())


def _around(walker: Walker, moves: Sequence[int], most: int) -> list[State]:
    state = walker.root()
    states: dict[Hashable, State] = {state.key: state}

    def stepped(before: State, thread: int) -> State:
        if thread not in before.moves:
            move, after = walker.step(before, thread)
            before.moves[thread] = move, states.setdefault(after.key, after)
        return before.moves[thread][1]

    for thread in moves:
        if state.is_end or thread not in state.enabled:
            break
        state = stepped(state, thread)
    queue, seen = deque([state]), {state.key}
    while queue and len(states) < most:
        before = queue.popleft()
        for thread in () if before.is_end else before.enabled:
            after = stepped(before, thread)
            if after.key not in seen:
                seen.add(after.key)
                queue.append(after)
    return list(states.values())


def _settled(
    walker: Walker, limit: int | None, schedule: Sequence[int], most: int, bound: str, fine: bool
) -> StateGraph:
    """Search until no unmarked word is contended."""
    if fine:
        walker.marks[:] = 1
    else:
        walker.mark(walker.sample())
    while True:
        states, complete, steady = _search(walker, limit, list(schedule), most, fine)
        if steady:
            return StateGraph(states, sorted(walker.contended), bound, complete, walker)
        walker.mark(walker.unmarked())


def _search(
    walker: Walker, limit: int | None, schedule: list[int], most: int, fine: bool
) -> tuple[list[State], bool, bool]:
    """Search by cost, cheapest first (0-1); return the states, whether all were found, and whether marks sufficed.

    Without a limit, nothing costs. With a schedule, a move costs 1 unless it is the schedule's next one; else a change
    of threads does, and what is searched is pairs of a state and the thread that moved last.
    """
    first = walker.root()
    states: dict[Hashable, State] = {first.key: first}
    cost: dict[tuple[Hashable, int], int] = {(first.key, -1): 0}
    queue = deque([(first, -1)])
    spine = {first.key: first} if schedule else {}
    while queue:
        state, last = queue.popleft()
        if state.is_end:
            continue
        so_far = cost[state.key, last]
        for thread in state.enabled:
            total = so_far
            if schedule:
                total += not (state.key in spine and _next(schedule, state) == thread)
            elif limit is not None:
                total += last not in (-1, thread)
            if limit is not None and total > limit:
                continue
            if thread not in state.moves:
                move, after = walker.step(state, thread)
                if not fine and walker.unmarked():
                    return [], False, False
                after = states.setdefault(after.key, after)
                state.moves[thread] = move, after
                if schedule and total == so_far and state.key in spine:
                    spine.setdefault(after.key, after)
                if len(states) > most:
                    return list(states.values()), False, True
            after = state.moves[thread][1]
            mark = (after.key, thread if limit is not None and not schedule else -1)
            if total < cost.get(mark, 1 << 30):
                cost[mark] = total
                (queue.append if total > so_far or limit is None else queue.appendleft)((after, mark[1]))
    return list(states.values()), True, True


def _next(schedule: list[int], state: State) -> int:
    """Return the thread that a schedule runs next after a state on it, -1 where it ends."""
    done = len(state.schedule)
    return schedule[done] if state.schedule == schedule[:done] and done < len(schedule) else -1
