"""Replay the play page of a mutant: every move on it is made again by the engine, and its par is sought from below.

``python replayed_page.py W2`` prints what was replayed as JSON. Each is a process of its own: a mutant stays applied.
"""

import json
import sys
from collections import deque
from typing import Any

from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import undo
from latchfree_explore.machine.machine import Machine
from latchfree_lincheck.checking.checker import check
from latchfree_teach.play.growing import within
from latchfree_teach.play.making import Play, mutant_page
from latchfree_teach.play.merging import merged
from latchfree_teach.play.moves import MOVE
from latchfree_teach.play.par import shortest
from latchfree_teach.play.walking import MOST_STEPS, State, Walker

#: States without a failure below par; more would be a page of another size than these.
MOST = 400_000


def ways(rows: list[Any]) -> dict[int, list[int]]:
    """For each state of a page, a schedule of accesses that leads there by the moves on the page."""
    found: dict[int, list[int]] = {0: []}
    queue = deque([0])
    while queue:
        state = queue.popleft()
        for thread, target, steps, *_ in rows[state][3]:
            if target not in found:
                found[target] = found[state] + [thread] * steps
                queue.append(target)
    return found


def look(walker: Walker, schedule: list[int]) -> tuple[object, ...]:
    """Memory, what threads do next, and what has been returned after a schedule of accesses."""
    status = walker._run(schedule, MOVE, -1)
    board = walker.machine.board
    assert int(board[b.STEPS]) == len(schedule), "the engine cannot make this move"
    assert [row[b.S_THREAD] for row in walker.machine.trace[: len(schedule)].tolist()] == schedule
    returned = int(board[b.RETURNED])
    done = range(walker.first, walker.after if status != b.DONE else len(walker.machine.calls))
    results = {k: walker.result(k) for k in done if k >= walker.after or returned >> k & 1}
    seen = (walker._changed(), tuple(walker._fiber(k) for k in range(walker.count)), results, status == b.DONE)
    undo(walker.machine.address)
    return seen


def shown(state: State) -> tuple[object, ...]:
    """The same of a state of the page."""
    return state.memory, state.threads, state.results, state.status == "done"


def fails(machine: Machine, walker: Walker, schedule: list[int]) -> bool:
    """Whether a complete schedule that begins so is no linearizable one, or ends as none should."""
    status = machine.run(schedule)
    if status != b.DONE:
        return True
    return check(machine.history(), walker.tracker.model).verdict == "violation"


def replayed(made: Play) -> dict[str, object]:
    """Replay a page; raises where page and engine differ."""
    walker = made.graph.walker
    states, rows = merged(made.graph.states)[0], made.data["states"]
    there = ways(rows)
    assert sorted(there) == list(range(len(rows))), "every state of the page can be played"
    assert shown(states[0]) == look(walker, [])
    moves = ends = 0
    for state, row in enumerate(rows):
        for thread, target, steps, *_ in row[3]:
            schedule = there[state] + [thread] * steps
            assert look(walker, schedule) == shown(states[target]), (state, thread, target)
            moves += 1
    machine = Machine(walker.machine.target, walker.machine.scenario, steps=MOST_STEPS)
    for state, schedule in there.items():
        if states[state].is_end:
            assert fails(machine, walker, schedule) == states[state].is_bad, state
            ends += 1
    return {"moves": moves, "ends": ends}


def below(made: Play) -> int:
    """Look for a failure with fewer changes of threads than par, every access a move; return the states looked at."""
    assert made.par is not None
    scenario, target = made.graph.walker.machine.scenario, made.graph.walker.machine.target
    if made.par == 0:
        return 0
    graph = within(Walker(Machine(target, scenario, steps=MOST_STEPS)), made.par - 1, most=MOST, fine=True)
    assert graph.complete, "too many states below par"
    assert shortest(graph.states[0]) is None, "it fails with fewer changes than par"
    return len(graph.states)


def main(name: str) -> None:
    """Print what was replayed."""
    made = mutant_page(name)
    print(json.dumps({"par": made.par, **replayed(made), "below": below(made)}))


if __name__ == "__main__":
    main(sys.argv[1])
