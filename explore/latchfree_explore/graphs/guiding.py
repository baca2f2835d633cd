"""Run code along an execution graph, and on to its end.

Example: of a graph in which thread 0 has loaded x before thread 1 stores 1, the machine is given the load, told to read
what x held to begin with, and the store, told to come after that. Both threads then go on, one after the other.

Along the graph each atomic access is answered from the graph: the write that a read takes is made before, and a write
comes next to the one before it in its word's order. Plain accesses go to memory. If nothing races, all that happens
before a plain access has been run by then, so any order of the steps will do that has writes before their reads.

Fibers are deterministic: the same answers lead to the same accesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from latchfree_explore.board import layout as b
from latchfree_explore.graphs.steps import State, Step
from latchfree_explore.machine.executions import order_of
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.graphs import BEYOND_PAUSES, GRAPHS, UP_TO_PAUSES
from latchfree_explore.views import weakening
from latchfree_explore.weak.graph import INITIAL

#: Accesses in which a thread that waits is watched.
PATIENCE: Final = 200


class Path(NamedTuple):
    """A graph's steps as steps of the machine.

    Attributes
    ----------
    threads : list of int
    given : list of int
        For each step the message that it reads, or after which it writes, as `latchfree_explore.views.giving` takes
        it.
    made_by : list of int
        For each step of the graph which step of the machine makes it; a poke goes with what its thread did before.
    """

    threads: list[int]
    given: list[int]
    made_by: list[int]


def path(state: State, more: dict[int, list[int]] | None = None) -> Path:
    """Return the steps of a graph in an order in which the machine can make them."""
    threads: list[int] = []
    given: list[int] = []
    made_by = [-1] * len(state.steps)
    last: dict[int, int] = {}
    for number in state.in_order(more):
        step = state.steps[number]
        if step.part in ("half", "poke"):
            made_by[number] = last[step.thread]
            continue
        at = 0
        if step.part == "read":
            at = _message(state, state.source[number], made_by)
        elif step.part == "write":
            order = state.writes[step.word]
            before = order.index(number) - 1
            while order[before] != INITIAL and made_by[order[before]] < 0:
                before -= 1
            at = _message(state, order[before], made_by)
        last[step.thread] = made_by[number] = len(threads)
        threads.append(step.thread)
        given.append(at)
    return Path(threads, given, made_by)


def _message(state: State, write: int, made_by: list[int]) -> int:
    if write == INITIAL:
        return 0
    return 2 * (made_by[write] + 1) + (state.steps[write].part == "poke")


class Ran(NamedTuple):
    """What a run added to a graph, in the order in which it was added.

    Attributes
    ----------
    status : int
        How the run ended, as the board says.
    steps : list of Step
        Reads of updates that wrote are followed by their halves, and steps by the pokes after them.
    values : dict of int to int
        For the words of these steps, what they held to begin with.
    """

    status: int
    steps: list[Step]
    values: dict[int, int]


class Guide:
    """Runs the code of a machine along graphs.

    Parameters
    ----------
    machine : Machine
        One that watches threads: for data races, or in a weak memory model.

    Raises
    ------
    ValueError
        If the machine does not watch threads.
    """

    def __init__(self, machine: Machine) -> None:
        if machine.board[b.WATCH] == b.NOT_WATCHED:
            raise ValueError(
                "strategy 'graphs' needs to see data races; leave out --no-races, or choose another strategy"
            )
        self.machine = machine

    @contextmanager
    def _watching(self, how: int) -> Iterator[None]:
        """Have the machine keep versions of words, and follow a graph."""
        board = self.machine.board
        watch = board[b.WATCH]
        board[b.WATCH], board[b.GUIDED] = b.WEAK, how
        try:
            yield
        finally:
            board[b.WATCH], board[b.GUIDED] = watch, b.NOT_GUIDED

    def run(self, state: State) -> Ran:
        """Run along a graph, and on until all threads have ended or paused."""
        along = path(state)
        with self._watching(b.GUIDED_ALONG):
            self.machine.start(GRAPHS, bound=UP_TO_PAUSES, schedule=along.threads, choices=along.given)
            with self.machine.ran() as status:
                self._check(state, along, status)
                return self._added(state, along, status)

    def go_on(self, state: State, alone: int = BEYOND_PAUSES) -> tuple[int, list[list[int]]]:
        """Run along a graph and let threads that have paused go on; return the status and the rows of their steps.

        All go on whom others have woken; or one goes on alone, woken or not, as long as a waiting thread is watched.
        """
        along = path(state)
        most = self.machine.board[b.MOST_STEPS]
        first = len(along.threads)
        with self._watching(b.GUIDED_ALONG if alone == BEYOND_PAUSES else b.GUIDED_ON):
            self.machine.board[b.MOST_STEPS] = min(most, first + PATIENCE)
            self.machine.start(GRAPHS, bound=alone, schedule=along.threads, choices=along.given)
            try:
                with self.machine.ran() as status:
                    return status, self.machine.trace[first : self.machine.board[b.STEPS]].tolist()
            finally:
                self.machine.board[b.MOST_STEPS] = most

    def translated(self, along: Path) -> tuple[list[int], list[int]]:
        """Return threads and choices that make the same run where no graph answers.

        What the machine would not choose by itself is given: see `latchfree_explore.views.giving`.
        """
        with self._watching(b.TRANSLATED):
            self.machine.start(GRAPHS, bound=UP_TO_PAUSES, schedule=along.threads, choices=along.given)
            with self.machine.ran():
                return self.machine.schedule, self.machine.choices

    def _check(self, state: State, along: Path, status: int) -> None:
        """Raise RuntimeError unless the code has done along the graph what the graph says."""
        trace = self.machine.trace[: len(along.threads)].tolist()
        for number, step in enumerate(state.steps):
            row = trace[along.made_by[number]]
            source = state.source.get(number, INITIAL)
            same = step.part == "poke" or step.word < 0 or row[b.S_AT] == step.word
            if step.part in ("write", "half"):
                same = same and row[b.S_NEW] == step.value
            if source != INITIAL:
                same = same and row[b.S_OLD] == state.steps[source].value
            if not same or status == b.DIVERGED:
                raise RuntimeError(
                    f"{self.machine.target.name}: run again, thread {step.thread} does not do what it did before, at "
                    f"word {step.word}: operations must depend on nothing but their arguments and memory"
                )

    def _added(self, state: State, along: Path, status: int) -> Ran:
        machine = self.machine
        first = len(along.threads)
        rows = machine.trace[first : machine.board[b.STEPS]].tolist()
        poked = self._pokes(state, along)
        steps: list[Step] = []
        values: dict[int, int] = {}
        for before in sorted(each for each in poked if each < first):
            steps += poked[before]
        for number, row in enumerate(rows, start=first):
            step = self._step(row)
            if step.word >= 0 and step.word not in values:
                values[step.word] = machine.held_first(step.word, row[b.S_OLD])
            steps.append(step)
            if step.part == "read" and row[b.S_MADE]:
                steps.append(step._replace(part="half", value=row[b.S_NEW]))
            steps += poked.get(number, [])
        return Ran(status, steps, values)

    def _pokes(self, state: State, along: Path) -> dict[int, list[Step]]:
        """Return the pokes that are not in the graph yet, by the step of the machine that they follow."""
        there: dict[tuple[int, int], int] = {}
        for number, step in enumerate(state.steps):
            if step.part == "poke":
                key = along.made_by[number], step.word
                there[key] = there.get(key, 0) + 1
        found: dict[int, list[Step]] = {}
        for word, thread, steps, value in self.machine.poked():
            after = steps - 1
            if there.get((after, word), 0):
                there[after, word] -= 1
            else:
                call = int(self.machine.trace[after, b.S_CALL])
                found.setdefault(after, []).append(Step(thread, "poke", word, "na", b.POKE, value=value, call=call))
        return found

    def _step(self, row: list[int]) -> Step:
        """Return a step of the machine as a step of a graph; of an update, the read."""
        kind, how = row[b.S_KIND], self.machine.how(row[b.S_SITE])
        thread, call = row[b.S_THREAD], row[b.S_CALL]
        if kind == b.FENCE and how == weakening.AS_CODED:
            return Step(thread, "fence", order="sc", kind=kind, call=call)
        if kind >= b.FENCE or kind in (b.PEEK, b.POKE):
            return Step(thread, "other", kind=kind, call=call)
        stores = kind == b.STORE or (kind == b.EXCHANGE and how == weakening.AS_STORE)
        return Step(
            thread,
            "write" if stores else "read",
            row[b.S_AT],
            order_of(kind, how),
            kind,
            row[b.S_A],
            row[b.S_B],
            row[b.S_NEW] if stores else None,
            call,
        )
