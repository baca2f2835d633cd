"""The search by graphs: run each graph once, judge its history in every order of operations, stop at a violation.

A failure is shown as the other strategies show theirs: as a schedule that the machine makes with no graph to answer it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, cast

from latchfree_explore.board import layout as b
from latchfree_explore.failure import Failure
from latchfree_explore.graphs.exploring import ENDED, Visited, visit
from latchfree_explore.graphs.guiding import Guide, path
from latchfree_explore.graphs.in_time import Line, Operations
from latchfree_explore.graphs.steps import State, rows_of
from latchfree_explore.graphs.waiting import Waiting
from latchfree_explore.judging.judge import Judge
from latchfree_explore.machine.machine import PROBLEMS, Machine
from latchfree_explore.machine.outcomes import is_known
from latchfree_explore.minimise import failure_along
from latchfree_explore.search import MESSAGES, Tally, failure_of, judge
from latchfree_explore.weak.axioms import Model, interleaved
from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.relations import acyclic, members, union

#: Seconds between two words on how far the search has come.
_SLICE: Final = 0.1
#: Orders of operations in which a failure is looked for that is no wrong result.
MOST_LINES: Final = 200
STATUSES: Final = {problem: status for status, problem in PROBLEMS.items()}


class Search:
    """A search of one scenario.

    Parameters
    ----------
    machine : Machine
        The scenario, compiled and ready to run.

    Raises
    ------
    ValueError
        If the strategy cannot serve the machine; the message says what to do.
    """

    def __init__(self, machine: Machine) -> None:
        if machine.board[b.PLAIN]:
            raise ValueError(
                "strategy 'graphs' makes no steps of plain accesses; leave out --plain, or choose another strategy"
            )
        if machine.board[b.SOLO_STEPS]:
            raise ValueError("strategy 'graphs' has no states to try a thread alone in; leave out --obstruction-free")
        self.machine, self.model = machine, cast(Model, machine.model)
        self.guide = Guide(machine)
        self._waiting = Waiting(self.guide)
        self._judge = Judge()
        self.done = Tally()

    def judge(self, visited: Visited) -> Failure | None:
        """Count a run and return how it fails, None if it does not."""
        board = self.machine.board
        steps = int(board[b.STEPS])
        board[b.ALL_STEPS] += steps
        board[b.LONGEST] = max(int(board[b.LONGEST]), steps)
        if visited.status == b.DONE and not board[b.RACED]:
            return self._judged(visited.state)
        problem = self._problem(visited)
        if problem:
            failure = self._shown(problem, visited)
            if failure is not None:
                board[b.SCHEDULES] += 1
                return failure
        board[b.SLEPT] += 1
        return None

    def _problem(self, visited: Visited) -> str:
        """Return what is wrong with a run, whatever its operations returned; "" if it has waited in vain only."""
        if visited.status not in ENDED:
            return PROBLEMS[visited.status]
        if self.machine.board[b.RACED]:
            return PROBLEMS[b.RACE]
        return PROBLEMS[b.DEADLOCK] if self._waiting.is_deadlock(visited) else ""

    def _operations(self, state: State) -> Operations:
        return Operations(state, self.model, self._judge, int(self.machine.board[b.RETURNED]))

    def _possible(self, operations: Operations) -> Iterator[tuple[Line, tuple[Model, ...]]]:
        """Yield orders in which a memory model allows a graph, those with little news first, and who allows it."""
        for line in islice(sorted(operations.lines(eager=False), key=_size), MOST_LINES):
            models = operations.models(line)
            if self.model in models:
                yield line, models

    def _judged(self, state: State) -> Failure | None:
        """Judge a history in all orders of its operations."""
        operations = self._operations(state)
        eager = sorted(operations.lines(), key=_size)
        if not any(self.model in operations.models(line) for line in eager) and not any(self._possible(operations)):
            self.machine.board[b.SLEPT] += 1  # clients that talk to each other do not come to this graph
            return None
        self.machine.board[b.SCHEDULES] += 1
        fine: list[Line] = []
        refused: list[Line] = []
        for lines in (reversed(eager), self._rest(operations, refused)):
            for line in lines:
                if line in refused or any(_contains(other, line) for other in fine):
                    continue
                failure = self._in_order(operations, line)
                if failure is None:
                    fine.append(line)
                    continue
                models = operations.models(line)
                if self.model in models:
                    return self._as_schedule(failure, state, line) or replace(failure, models=models)
                refused.append(line)
        return None

    def _rest(self, operations: Operations, refused: list[Line]) -> Iterator[Line]:
        """Yield orders with less in them than those that axioms refuse."""
        if refused:
            yield from sorted(operations.lines(eager=False), key=_size, reverse=True)

    def _in_order(self, operations: Operations, line: Line) -> Failure | None:
        """Judge the last run's history as if operations had followed each other in this order."""
        machine = self.machine
        at = {number: k for k, number in enumerate(line.steps)}
        for k, call in enumerate(operations.calls):
            before = sum(1 << operations.calls[other] for other in members(line.before[k]))
            row = machine.call_rows[call]
            row[b.C_INVOKE], row[b.C_RETURN] = at[operations.first[k]], at[operations.last[k]]
            row[b.C_BEFORE] = before | machine.before
        if is_known(machine.address, machine.seen):
            return None
        self.done.checked += 1
        return judge(machine)

    def _shown(self, problem: str, visited: Visited) -> Failure | None:
        """Return what is wrong with a run as a failure, None if clients that talk to each other do not come to it."""
        machine = self.machine
        operations = self._operations(visited.state)
        failure: Failure | None = None
        told = machine.race() if problem == PROBLEMS[b.RACE] else ""
        for line, models in self._possible(operations):
            if failure is None:
                message = MESSAGES[STATUSES[problem]].format(steps=len(machine.schedule), race=told)
                failure = replace(failure_of(machine, problem, message), models=models)
            found = self._as_schedule(failure, visited.state, line)
            if found is not None:
                return found
        return failure

    def _as_schedule(self, failure: Failure, state: State, line: Line) -> Failure | None:
        """Return a failure as a schedule that the machine makes with no graph to answer it; None if there is none."""
        for more in self._ways(state, line):
            along = path(state, more)
            if len(along.threads) == 0 < len(state.steps):
                continue
            threads, choices = self.guide.translated(along)
            found = failure_along(self.machine, threads, [] if self.model == "sc" else choices)
            if found is not None and (found.kind == failure.kind or failure.kind == PROBLEMS[b.RACE]):
                return found
        return None

    def _ways(self, state: State, line: Line) -> list[dict[int, list[int]]]:
        """Return what else to heed in the order of steps: the order of operations, and the order of strong accesses."""
        real = {later: [earlier] for earlier, later in zip(line.steps, line.steps[1:], strict=False)}
        rows = rows_of(state)
        derived = Derived(rows.graph())
        order = interleaved(derived) if self.model == "sc" else derived.psc
        first = derived.graph.size - len(rows.rows)
        step_of = {row + first: n for n, row in reversed(list(enumerate(rows.row_of))) if row >= 0}
        strong: dict[int, list[int]] = {n: list(before) for n, before in real.items()}
        for event, after in enumerate(order):
            for other in members(after):
                if event >= first and other != event:
                    strong.setdefault(step_of[other], []).append(step_of[event])
        both = union(derived.graph.po, derived.graph.rf, order)
        return [strong, real] if acyclic(both) else [real]


def _size(line: Line) -> int:
    return sum(mask.bit_count() for mask in line.before)


def _contains(larger: Line, line: Line) -> bool:
    return all(mask & ~other == 0 for mask, other in zip(line.before, larger.before, strict=True))


def run(
    machine: Machine,
    *,
    schedules: int | None = None,
    deadline: float | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Tally:
    """Run the graphs of a machine's program until there are no more, a bound ends the search, or something is wrong.

    Parameters
    ----------
    machine : Machine
        The scenario, compiled and ready to run; one that watches for data races.
    schedules : int, optional
        How many graphs at most.
    deadline : float, optional
        `time.monotonic` after which no further graphs are run.
    on_progress : callable, optional
        Called now and then with the graphs so far.

    Returns
    -------
    latchfree_explore.search.Tally

    Raises
    ------
    ValueError
        If the strategy cannot serve the machine, or its program; the message says what to do.
    """
    search = Search(machine)
    done, board = search.done, machine.board
    before, slept = int(board[b.SCHEDULES]), int(board[b.SLEPT])
    graphs = visit(search.guide, search.model)
    said = time.monotonic()
    while done.failure is None:
        if (schedules is not None and done.schedules >= schedules) or (
            deadline is not None and time.monotonic() > deadline
        ):
            break
        visited = next(graphs, None)
        if visited is None:
            done.complete = True
            break
        done.failure = search.judge(visited)
        done.schedules, done.slept = int(board[b.SCHEDULES]) - before, int(board[b.SLEPT]) - slept
        if on_progress is not None and time.monotonic() - said > _SLICE:
            said = time.monotonic()
            on_progress(done.schedules)
    return done
