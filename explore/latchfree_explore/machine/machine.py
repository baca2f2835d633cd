"""The machine: memory, fibers and board for one scenario, and schedules run on them."""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, cast

import numpy as np

from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import undo
from latchfree_explore.board.stacks import Stack, return_word
from latchfree_explore.judging.remembering import Memory, refuse
from latchfree_explore.machine import fibers, judged, launch, loop
from latchfree_explore.machine.access import access_function
from latchfree_explore.machine.compiling import code_of, prepared
from latchfree_explore.machine.counting import new_count
from latchfree_explore.machine.executions import execution
from latchfree_explore.machine.outcomes import learn, new_tables
from latchfree_explore.machine.watched import Watched
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step
from latchfree_explore.strategies.directed import DIRECTED
from latchfree_explore.strategies.dispatch import install, solo_choose
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.target import Target
from latchfree_explore.weak.axioms import Model
from latchfree_explore.weak.graph import Graph
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN

#: Bounds on one schedule: atomic accesses, accesses of any kind, logged writes.
MOST_STEPS: Final = 4_000
MOST_ACCESSES: Final = 1_000_000
MOST_WRITES: Final = 1_000_000

PROBLEMS: Final = {
    b.ENDLESS: "endless",
    b.DEADLOCK: "deadlock",
    b.ASTRAY: "astray",
    b.RAISED: "raised",
    b.DIVERGED: "diverged",
    b.OVERFULL: "overfull",
    b.STUCK: "not obstruction-free",
    b.RACE: "data race",
}


@cache
def _entry() -> Any:
    return fibers.entry()


class Machine:
    """Runs schedules of one scenario.

    Parameters
    ----------
    target : Target
    scenario : Scenario
    plain : bool
        Whether plain accesses are steps too.
    progress : int
        Steps within which a thread alone must finish its operation, from every state reached; 0 not to look at that.
    steps : int
        Atomic accesses after which a schedule counts as endless.
    memory : str
        A memory model: "sc", "tso", "sra" or "rc11". With all but "sc" the machine runs what "rc11" allows; who judges
        a schedule asks the axioms whether the model allows its `execution`.
    races : bool
        Whether a data race is a failure; under a weak memory model it always is.
    real_time : bool
        Whether what returned before an operation began may be known to the operation, as linearizability has it.

    Attributes
    ----------
    board : int64 array
        All state, see `latchfree_explore.board.layout`.
    trace : int64 array of shape (steps, words of a step)
        The steps of the last schedule.
    call_rows : int64 array of shape (operations, words of an operation)
        The operations of the scenario.

    Raises
    ------
    ValueError
        If the target cannot run the scenario.
    RuntimeError
        If the operations that come before fail.
    """

    def __init__(
        self,
        target: Target,
        scenario: Scenario,
        *,
        plain: bool = False,
        progress: int = 0,
        steps: int = MOST_STEPS,
        memory: str = "sc",
        races: bool = False,
        real_time: bool = True,
    ) -> None:
        target.validate(scenario)
        self.target, self.scenario, self.model = target, scenario, memory
        self.calls = scenario.operations
        threads = len(scenario.threads)
        self.memory = prepared(target, threads + 1, scenario.keys)
        self.trace = np.zeros((steps + 1, b.STEP_WORDS), np.int64)
        self._spare = np.zeros((steps + 1, b.STEP_WORDS), np.int64)
        self._undo = np.zeros((MOST_WRITES, 2), np.int64)
        self.call_rows = np.zeros((len(self.calls), b.CALL_WORDS), np.int64)
        self.board = np.zeros(b.BOARD_WORDS, np.int64)
        self.address = np.int64(self.board.ctypes.data)
        self.seen = new_tables(len(self.calls))
        self.count = new_count(steps)
        for at, value in (
            (b.BASE, self.memory.words.ctypes.data),
            (b.WORDS, len(self.memory.words)),
            (b.ROOT, self.memory.root),
            (b.THREADS, threads),
            (b.TRACE, self.trace.ctypes.data),
            (b.UNDO, self._undo.ctypes.data),
            (b.MOST_UNDO, MOST_WRITES),
            (b.CALLS, self.call_rows.ctypes.data),
            (b.MOST_STEPS, steps),
            (b.MOST_ACCESSES, MOST_ACCESSES),
            (b.PLAIN, plain),
            (b.ENTRY, _entry().address),
            (b.ENTRY_WORD, return_word()),
            (b.ACCESS, access_function().address),
            (b.SPARE_TRACE, self._spare.ctypes.data),
            (b.SOLO_STEPS, progress),
            (b.SOLO_CHOOSE, solo_choose() if progress else 0),
            (b.SEED, 1),
            (b.REAL_TIME, real_time),
        ):
            self.board[at] = value
        self._watched = Watched(self.board, len(self.memory.words), memory, races)
        self.judgements: Memory | None = None if memory == "sc" else Memory(cast(Model, memory))
        self._lay_out(threads)
        self._run_before()

    def _lay_out(self, threads: int) -> None:
        for k, each in enumerate(self.calls):
            operation = self.target.operation(each.f)
            self.call_rows[k, b.C_CODE] = code_of(self.target, each.f)
            self.call_rows[k, b.C_ARITY] = operation.arity
            self.call_rows[k, b.C_ARGUMENTS : b.C_ARGUMENTS + operation.arity] = self.target.words(
                each, self.scenario.keys
            )
        self._stacks = [Stack(int(self.address), k) for k in range(threads + 1)]
        first = len(self.scenario.before)
        for k, stack in enumerate(self._stacks):
            at = b.FIBERS + k * b.FIBER_WORDS
            self.board[at + b.F_TOP] = stack.top
            if k < threads:
                self.board[at + b.F_FIRST] = first
                first += len(self.scenario.threads[k])
                self.board[at + b.F_END] = first
        self._first_after = first

    def _run_before(self) -> None:
        before = len(self.scenario.before)
        if before and launch.run_alone(self.address, 0, before) != b.DONE:
            problem = PROBLEMS[int(self.board[b.STATUS])]
            raise RuntimeError(f"{self.target.name}: what comes before the threads ends {problem}: {self.scenario}")
        self.board[b.UNDONE] = 0  # from here on the memory is reset to what they left

    @property
    def before(self) -> int:
        """Mask of the operations before the threads."""
        return (1 << len(self.scenario.before)) - 1

    def start(
        self,
        strategy: Strategy,
        *,
        seed: int = 1,
        bound: int = 0,
        schedule: Sequence[int] = (),
        choices: Sequence[int] = (),
    ) -> None:
        """Set a strategy, its seed and number, or the schedule to run along: a thread and a choice for each step."""
        install(self.board, strategy)
        self.board[b.SEED] = seed
        self.board[b.BOUND] = bound
        self.board[b.STARTED] = 0
        self.board[b.KEPT_STEPS] = 0
        self.board[b.PREFIX] = len(schedule)
        self.trace[: len(schedule), b.S_THREAD] = schedule
        self.trace[: len(schedule), b.S_CHOICE] = 0
        self.trace[: len(choices), b.S_CHOICE] = choices

    def drive(self, limit: int) -> int:
        """Run up to `limit` schedules; return why it stopped, see `latchfree_explore.machine.loop`."""
        return int(
            loop.drive(self.address, self.seen, self.count, self.before, self._first_after, len(self.calls), limit)
        )

    def drive_allowed(self, limit: int) -> int:
        """Run up to `limit` schedules, and go on after those that fail if the memory model forbids them.

        They are counted: `latchfree_explore.board.layout.FORBIDDEN`.
        """
        if self.judgements is None:
            return self.drive(limit)
        ends = self.before, self._first_after, len(self.calls)
        return int(judged.drive_allowed(self.address, self.seen, self.count, self.judgements.tables, *ends, limit))

    def refuse(self) -> None:
        """Count the last schedule as failed and forbidden; pass over all that have its graph and its outcome."""
        self.board[b.FORBIDDEN] += 1
        if self.judgements is not None and self.status == b.DONE:
            refuse(self.address, self.judgements.tables, len(self.calls))

    def run(self, schedule: Sequence[int], then: int = -1, choices: Sequence[int] = ()) -> int:
        """Run one schedule along the threads and choices given, then thread `then` if it can, then the others.

        Returns the status.
        """
        if len(schedule) > len(self.trace):
            return b.DIVERGED
        self.start(DIRECTED, schedule=schedule, bound=then, choices=choices)
        with self.ran() as status:
            return status

    @contextmanager
    def ran(self) -> Iterator[int]:
        """Run the first schedule of what was started; yield the status, and undo what the schedule wrote at the end."""
        try:
            yield int(launch.run_schedule(self.address, self.before, self._first_after, len(self.calls)))
        finally:
            undo(self.address)

    def learn(self, order: Sequence[int]) -> None:
        """Keep a linearization of the last schedule."""
        learn(self.address, self.seen, np.array(order, np.int64))

    # the last schedule ----------------------------------------------------------------------------------------

    @property
    def status(self) -> int:
        """How the last schedule ended."""
        return int(self.board[b.STATUS])

    @property
    def schedule(self) -> list[int]:
        """The thread of each step of the last schedule."""
        threads: list[int] = self.trace[: self.board[b.STEPS], b.S_THREAD].tolist()
        return threads

    @property
    def choices(self) -> list[int]:
        """The choice of each step of the last schedule: 0 for the newest message, or the last place."""
        made: list[int] = self.trace[: self.board[b.STEPS], b.S_CHOICE].tolist()
        return made

    def sites(self) -> dict[tuple[str, str], set[int]]:
        """Return the accesses of the last schedule, by "file:line" and kind; each has the addresses of its sites."""
        found: dict[tuple[str, str], set[int]] = {}
        for row in self.trace[: self.board[b.STEPS]].tolist():
            if row[b.S_SITE]:
                line = ctypes.string_at(row[b.S_SITE]).decode()
                found.setdefault((line, b.KINDS[row[b.S_KIND]]), set()).add(row[b.S_SITE])
        return found

    def weaken(self, sites: Mapping[int, int]) -> None:
        """From now on make the accesses of sites weaker; how is one of `latchfree_explore.views.weakening`."""
        self._watched.weaken(sites)

    def execution(self) -> Graph:
        """Return the last schedule as an execution graph."""
        returned = int(self.board[b.RETURNED]) if self.board[b.REAL_TIME] else 0
        return execution(self._watched, self.trace[: self.board[b.STEPS]], self.call_rows, returned)

    def how(self, site: int) -> int:
        """Return how the accesses of a site are weakened."""
        return self._watched.how(site)

    def poked(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the last schedule's pokes of words that had messages: word, thread, after how many steps, value."""
        return self._watched.pokes()

    def held_first(self, word: int, otherwise: int) -> int:
        """Return what a word held in the last schedule before its first message, or what is given if it has none."""
        return self._watched.held_first(word, otherwise)

    def race(self) -> str:
        """Return what the data race of the last schedule is."""
        return self._watched.race()

    @property
    def steps(self) -> list[Step]:
        """The steps of the last schedule."""
        return [self._step(row) for row in self.trace[: self.board[b.STEPS]].tolist()]

    def _step(self, row: list[int]) -> Step:
        kind, at = row[b.S_KIND], row[b.S_AT]
        site = ctypes.string_at(row[b.S_SITE]).decode() if row[b.S_SITE] else ""
        return Step(
            thread=row[b.S_THREAD],
            kind=b.KINDS[kind],
            at=None if at == b.NOWHERE else at,
            old=row[b.S_OLD],
            new=row[b.S_NEW],
            site=site,
            call=row[b.S_CALL],
            choice=row[b.S_CHOICE],
            succeeded=kind != b.CAS or row[b.S_OLD] == row[b.S_A],
        )

    @property
    def results(self) -> list[Hashable]:
        """What each of its operations returned, in the order of the scenario; all of them must have."""
        words = self.call_rows[:, b.C_RESULT].tolist()
        return [self.target.operation(each.f).result(word) for each, word in zip(self.calls, words, strict=True)]

    def history(self) -> History:
        """Return the operations with their results; one that did not return is pending, one not invoked is left out."""
        before, steps = len(self.scenario.before), int(self.board[b.STEPS])
        found = []
        for k, (each, process) in enumerate(zip(self.calls, self._processes(), strict=True)):
            row = self.call_rows[k]
            ended = bool(self.board[b.RETURNED] >> k & 1)
            if k < before:
                invoke, return_ = k, k
            elif k >= self._first_after:
                invoke = return_ = before + steps + k
                if not ended:
                    continue
            else:
                invoked = (self.trace[:steps, b.S_CALL] == k).any()
                if not invoked:
                    continue
                invoke, return_ = before + int(row[b.C_INVOKE]), before + int(row[b.C_RETURN])
            result = self.target.operation(each.f).result(int(row[b.C_RESULT])) if ended else UNKNOWN
            found.append(
                Operation(process, each.f, each.arguments, result, 2 * invoke, 2 * return_ + 1 if ended else None)
            )
        return History(str(self.scenario), found, None)

    def _processes(self) -> list[str]:
        threads = [str(t) for t, thread in enumerate(self.scenario.threads) for _ in thread]
        return [*["init"] * len(self.scenario.before), *threads, *["after"] * len(self.scenario.after)]
