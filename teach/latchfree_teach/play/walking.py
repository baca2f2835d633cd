"""Stop the compiled code in the middle of a schedule, and look at it.

The explorer's machine runs along a given schedule, then one move further (`latchfree_teach.play.moves`). There every
thread has announced its next access, and memory is as it is until it is undone. So a *state* can be read: the words
that differ from the start, what each thread is about to do, what its operation has seen, and what has been returned.

What an operation has observed since it began determines its registers, so no stack is looked into.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from latchfree_explore.board import layout as b
from latchfree_explore.board.dependence import may_wake
from latchfree_explore.board.effects import undo
from latchfree_explore.machine import launch
from latchfree_explore.machine.machine import PROBLEMS, Machine
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.strategies.strategy import Strategy
from latchfree_teach.play.moves import MARKS, MOVE
from latchfree_teach.play.tracker import Configurations, Steps, Tracker

#: Accesses after which a schedule counts as endless.
MOST_STEPS: Final = 1_500
_SAMPLES: Final = 60
_MASK: Final = (1 << 64) - 1
_READS: Final = frozenset({b.LOAD, b.LOAD_SEQ, b.LOAD_UNSURE, b.PEEK})


class Thread(NamedTuple):
    """What a thread is about to do; call -1 for one that has ended. Words are signed."""

    call: int
    invoking: bool = False
    kind: int = b.NOTHING
    at: int = b.NOWHERE
    a: int = 0
    operand: int = 0
    site: str = ""


class Move(NamedTuple):
    """One move: who made it, its accesses, the one that counts, and what came of it.

    `returned` has, for each operation that returned, its number and the configurations it left.
    """

    thread: int
    call: int
    steps: int
    kind: str
    at: int
    old: int
    new: int
    site: str
    invokes: bool
    returned: tuple[tuple[int, Steps], ...]


@dataclass(eq=False)
class State:
    """A state of a program, and the moves that lead on from it."""

    schedule: list[int]
    key: Hashable
    memory: tuple[tuple[int, int], ...]
    threads: tuple[Thread, ...]
    observed: tuple[tuple[Any, ...], ...]
    results: dict[int, Hashable]
    pending: frozenset[int]
    held: Configurations
    status: str  # "running", "done", or a problem of the explorer
    enabled: tuple[int, ...]
    moves: dict[int, tuple[Move, State]] = field(default_factory=dict)

    @property
    def is_bad(self) -> bool:
        """Whether no order explains what was returned, or the schedule ended as none should."""
        return not self.held or self.status not in ("running", "done")

    @property
    def is_end(self) -> bool:
        """Whether nothing can go on from here."""
        return self.is_bad or self.status == "done"

    @property
    def rank(self) -> int:
        """A number that every move raises."""
        total = 0
        for thread, seen in zip(self.threads, self.observed, strict=True):
            total += len(seen) + (MOST_STEPS + 1) * (thread.call if thread.call >= 0 else 1 << 10)
        return total


class Walker:
    """Walks through the states of one scenario.

    Parameters
    ----------
    machine : Machine
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        scenario = machine.scenario
        self.tracker = Tracker.of(machine.target, machine.calls)
        self.first = len(scenario.before)
        self.after = self.first + sum(map(len, scenario.threads))
        self.count = len(scenario.threads)
        self.runs = 0
        self.marks = np.zeros(len(machine.memory.words) + 1, np.uint8)
        self._users: dict[int, list[int]] = {}  # word -> masks of the threads that read, and that write it
        self._sites: dict[int, str] = {}
        held = self.tracker.first
        for k in range(self.first):
            held = frozenset(self.tracker.returns(held, frozenset({k}), k, self.result(k)))
        if not held:
            raise RuntimeError(f"{machine.target.name}: what comes before the threads is wrong already: {scenario}")
        self._held = held

    @cached_property
    def contended(self) -> set[int]:
        """The words marked so far."""
        return set()

    def mark(self, words: set[int]) -> None:
        """Make accesses to words moves of their own."""
        self.contended.update(words)
        self.marks[sorted(words)] = 1

    def result(self, k: int) -> Hashable:
        """Return what operation `k` has returned in the last schedule."""
        machine = self.machine
        return machine.target.operation(machine.calls[k].f).result(int(machine.call_rows[k, b.C_RESULT]))

    def sample(self) -> set[int]:
        """Return contended words that some random schedules show, the same in every run."""
        found: set[int] = set()
        for seed in range(1, _SAMPLES + 1):
            self._run([], RANDOM, -1, seed)
            undo(self.machine.address)
            found |= self._note(self.machine.trace[: int(self.machine.board[b.STEPS])].tolist())
        return found

    def _run(self, schedule: Sequence[int], strategy: Strategy, thread: int, seed: int = 1) -> int:
        machine = self.machine
        self.runs += 1
        machine.start(strategy, schedule=schedule, bound=thread, seed=seed)
        if strategy is MOVE:
            machine.board[MARKS] = self.marks.ctypes.data
        return int(launch.run_schedule(machine.address, machine.before, self.after, len(machine.calls)))

    def root(self) -> State:
        """Return the state at the beginning."""
        return self._state([], -1, None)[1]

    def step(self, state: State, thread: int) -> tuple[Move, State]:
        """Make one move from a state; the state after it has no moves yet."""
        move, after = self._state(state.schedule, thread, state)
        assert move is not None
        return move, after

    def look(self, state: State, see: Callable[[], Any]) -> Any:
        """Return what `see` returns while memory is as in a state."""
        self._run(state.schedule, MOVE, -1)
        seen = see()
        undo(self.machine.address)
        return seen

    def _state(self, schedule: list[int], thread: int, parent: State | None) -> tuple[Move | None, State]:
        board, base = self.machine.board, len(schedule)
        status = self._run(schedule, MOVE, thread)
        steps = int(board[b.STEPS])
        memory = self._changed()
        fibers = [self._fiber(k) for k in range(self.count)]
        enabled = self._enabled() if status == b.SLEEPING else ()
        returned = int(board[b.RETURNED])
        rows = self.machine.trace[base:steps].tolist()
        results = {} if parent is None else dict(parent.results)
        fresh = [k for k in range(self.first, self.after) if returned >> k & 1 and k not in results]
        if status == b.DONE:
            fresh += range(self.after, len(self.machine.calls))
        given = {k: self.result(k) for k in fresh}
        undo(self.machine.address)
        self._note(rows)
        name = "running" if status == b.SLEEPING else "done" if status == b.DONE else PROBLEMS[status]
        state, seen = self._grown(parent, schedule, rows, given)
        made = State(
            schedule=[*schedule, *(row[b.S_THREAD] for row in rows)],
            key=(memory, tuple(fibers), seen, tuple(sorted(state[0].items())), state[2], name),
            memory=memory,
            threads=tuple(fibers),
            observed=seen,
            results=state[0],
            pending=state[1],
            held=state[2],
            status=name,
            enabled=enabled,
        )
        return (self._move(rows, state[3]) if parent is not None else None), made

    def _grown(
        self, parent: State | None, schedule: list[int], rows: list[list[int]], given: dict[int, Hashable]
    ) -> tuple[tuple[dict[int, Hashable], frozenset[int], Configurations, tuple[tuple[int, Steps], ...]], Any]:
        """Return results, pending operations, configurations and returns after a move; and what threads have seen."""
        held = self._held if parent is None else parent.held
        results = {} if parent is None else dict(parent.results)
        pending = set() if parent is None else set(parent.pending)
        seen: list[tuple[Any, ...]] = [()] * self.count if parent is None else list(parent.observed)
        for row in rows:
            k, thread = row[b.S_CALL], row[b.S_THREAD]
            if k not in pending:
                pending.add(k)
                seen[thread] = ()
            seen[thread] += ((row[b.S_KIND], row[b.S_AT], row[b.S_OLD]),)
        back = []
        for k, result in given.items():
            if k >= self.after:
                pending = {k}
            steps = self.tracker.returns(held, frozenset(pending), k, result)
            back.append((k, steps))
            held = frozenset(steps)
            results[k] = result
            pending.discard(k)
        for row in rows[-1:]:
            if row[b.S_CALL] not in pending:
                seen[row[b.S_THREAD]] = ()
        return (results, frozenset(pending), held, tuple(back)), tuple(seen)

    def _changed(self) -> tuple[tuple[int, int], ...]:
        """Return the words that differ from the start, with what they hold."""
        board, words = self.machine.board, self.machine.memory.words
        count = int(board[b.UNDONE])
        if count == 0:
            return ()
        log = (ctypes.c_int64 * (2 * count)).from_address(int(board[b.UNDO]))
        first: dict[int, int] = {}
        for k in range(0, 2 * count, 2):
            first.setdefault(log[k], log[k + 1] & _MASK)
        return tuple((at, now) for at in sorted(first) if (now := int(words[at])) != first[at])

    def _fiber(self, k: int) -> Thread:
        at = b.FIBERS + k * b.FIBER_WORDS
        f = self.machine.board[at : at + b.FIBER_WORDS].tolist()
        if not f[b.F_READY]:
            return Thread(-1)
        return Thread(
            f[b.F_CALL], bool(f[b.F_INVOKING]), f[b.F_KIND], f[b.F_AT], f[b.F_A], f[b.F_B], self._site(f[b.F_SITE])
        )

    def _site(self, address: int) -> str:
        if address and address not in self._sites:
            self._sites[address] = ctypes.string_at(address).decode()
        return self._sites[address] if address else ""

    def _enabled(self) -> tuple[int, ...]:
        found = []
        for k in range(self.count):
            at = b.FIBERS + k * b.FIBER_WORDS
            if self.machine.board[at + b.F_READY] and (
                self.machine.board[at + b.F_KIND] != b.PAUSE or may_wake(self.machine.address, k)
            ):
                found.append(k)
        return tuple(found)

    def _note(self, rows: list[list[int]]) -> set[int]:
        """Note who touches which word; return the words that have turned out to be contended."""
        found = set()
        for row in rows:
            at, kind = row[b.S_AT], row[b.S_KIND]
            if at == b.NOWHERE:
                continue
            users = self._users.setdefault(at, [0, 0])
            users[0] |= 1 << row[b.S_THREAD]
            if kind not in _READS and not (kind == b.CAS and row[b.S_OLD] != row[b.S_A]):
                users[1] |= 1 << row[b.S_THREAD]
            if users[1] and users[0] & users[0] - 1:
                found.add(at)
        return found

    def unmarked(self) -> set[int]:
        """Return the contended words that are not marked yet."""
        return {at for at, (all_, write) in self._users.items() if write and all_ & all_ - 1} - self.contended

    def _move(self, rows: list[list[int]], back: tuple[tuple[int, Steps], ...]) -> Move:
        points = (row for row in rows if row[b.S_KIND] == b.PAUSE or self.marks[row[b.S_AT]])
        row = next(points, rows[-1])
        kind = b.KINDS[row[b.S_KIND]]
        if row[b.S_KIND] == b.CAS and row[b.S_OLD] != row[b.S_A]:
            kind = "cas fails"
        return Move(
            row[b.S_THREAD], row[b.S_CALL], len(rows), kind, row[b.S_AT], row[b.S_OLD], row[b.S_NEW],
            self._site(row[b.S_SITE]), bool(rows[0][b.S_FLAGS] & b.INVOKES), back,
        )  # fmt: skip
