"""The search by dequeues from the outside: which queues it serves, tables that grow, and the order it found."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, ENQUEUE, TAKE, UNKNOWN_RESULT
from latchfree_lincheck.engine.dequeues.kernels import configurations as k
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    CROWDED,
    DONE,
    MORE_CONFIGURATIONS,
    MORE_LOG,
    SLOTS,
)
from latchfree_lincheck.engine.outcome import Outcome, Slices
from latchfree_lincheck.engine.store import NoRoom, Store, doubled
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

_SLICE: Final = 20_000
_HEAD_START: Final = 1
"""Turns of the other searches before it begins: they decide short histories, and its kernel takes time to compile."""
_CONFIGURATIONS: Final = 1 << 10
_LOG: Final = 1 << 15


class Tables(Store):
    """The configurations, where they are found, and the paths to them.

    Parameters
    ----------
    calls : int
        How many calls there are.
    memory : int
        The most bytes all tables may take.
    deadline : Deadline
        When the search ends.
    """

    def __init__(self, calls: int, memory: int, deadline: Deadline) -> None:
        super().__init__(memory, deadline)
        self.control: Ints = np.zeros(k.FIELDS, np.int64)
        self.control[k.FILLED] = 1
        self.owner, self.lost_owner = np.zeros((2, SLOTS), np.int64)
        self.place: Ints = np.zeros(calls, np.int64)
        self.options: Ints = np.zeros(k.OPTIONS, np.int64)
        self.configurations: Ints = np.zeros((_CONFIGURATIONS, k.COLUMNS), np.int64)
        self.configurations[0, k.PATH] = -1
        self.kept: Ints = np.zeros((_CONFIGURATIONS, k.COLUMNS), np.int64)
        self.table: Ints = np.zeros(4 * _CONFIGURATIONS, np.int64)
        self.log: Ints = np.zeros((_LOG, 4), np.int64)

    def arrays(self) -> k.Frontier:
        """Return the arrays, until they grow."""
        return k.Frontier(
            self.owner, self.lost_owner, self.place, self.options, self.configurations, self.kept, self.table, self.log
        )

    def taken(self) -> int:
        """Return how much memory the tables take."""
        return sum(array.nbytes for array in (self.configurations, self.kept, self.table, self.log))

    def more_configurations(self) -> None:
        """Double the room for configurations."""
        self.require(2 * (self.configurations.nbytes + self.kept.nbytes + self.table.nbytes))
        self.configurations, self.kept = doubled(self.configurations), doubled(self.kept)
        self.table = np.zeros(2 * len(self.table), np.int64)
        ENGINE.rehash_dequeues(self.control, self.arrays())

    def more_log(self) -> None:
        """Double the room for paths."""
        self.require(2 * self.log.nbytes)
        self.log = doubled(self.log)


def _run(problem: Problem, memory: int, deadline: Deadline) -> Slices:
    """Search one part that is served; yield now and then; return the outcome."""
    for _ in range(_HEAD_START):
        yield
    parts = problem.parts
    enqueue, returned = parts.rows[:, 0] == ENQUEUE, parts.return_ != NEVER_RETURNS
    lost = np.flatnonzero(enqueue & ~returned)
    if len(lost) > SLOTS:
        return Outcome(gave_up="crowded")
    calls = k.Calls(
        parts.events, parts.invoke, parts.return_, parts.rows, np.flatnonzero(enqueue & returned), lost
    )  # operations are in order of invocation
    tables = Tables(len(parts.rows), memory, deadline)
    order: Ints = np.empty((len(parts.rows), 3), np.int64)
    control = tables.control
    try:
        while True:
            before = int(control[k.STEPS])
            why = ENGINE.advance_dequeues(control, calls, tables.arrays(), order, deadline.slice(_SLICE))
            deadline.spend(int(control[k.STEPS]) - before)
            if why in (DONE, BLOCKED):
                path = int(tables.configurations[0, k.PATH])
                written = ENGINE.write_dequeues(tables.log, path, order, int(control[k.WRITTEN]))
                found = _order(problem, order[:written], int(control[k.EVENT]))
                blocked = None if why == DONE else int(parts.index[parts.events[control[k.EVENT]] >> 1])
                return Outcome(parts.index[found], blocked=blocked)
            if why == CROWDED:
                return Outcome(gave_up="crowded")
            if why == MORE_CONFIGURATIONS:
                tables.more_configurations()
            elif why == MORE_LOG:
                tables.more_log()
            yield
    except NoRoom as reason:
        return Outcome(gave_up=reason.gave_up)


def _order(problem: Problem, taken: Ints, until: int) -> Ints:
    """Return the order that dequeues and what they took leave, with the enqueues that returned before `until`.

    A dequeue takes effect just before the event at which the search let it. An enqueue takes effect as early as it may:
    when it is called, but after the enqueues that were taken before it and after the dequeues that found nothing
    before. An enqueue that nobody took takes effect when it returns.
    """
    parts = problem.parts
    # (rank, before or after the event there, place among the dequeues, enqueue or dequeue, operation)
    moments: list[tuple[int, int, int, int, int]] = []
    earliest = (-1, 0)
    used = set()
    for place, (dequeue, enqueue, now) in enumerate(taken.tolist()):
        if enqueue >= 0:
            earliest = max(earliest, (int(parts.invoke[enqueue]), 1))
            moments.append((*earliest, place, 0, enqueue))
            used.add(enqueue)
        else:
            earliest = max(earliest, (now, -1))
        moments.append((now, -1, place, 1, dequeue))
    for operation in np.flatnonzero((parts.rows[:, 0] == ENQUEUE) & (parts.return_ < until)).tolist():
        if operation not in used:
            moments.append((int(parts.return_[operation]), 0, 0, 0, operation))
    return np.array([operation for *_, operation in sorted(moments)], np.int64)


def _never_full(problem: Problem) -> bool:
    """Return whether a queue has no bound, or no order of the calls can fill it.

    It holds at most the items of enqueues that were called, without those that dequeues have returned by then.
    """
    parts = problem.parts
    enqueue = parts.rows[:, 0] == ENQUEUE
    capacities, results = parts.rows[enqueue, 3], parts.rows[enqueue, 4]
    if (capacities == ABSENT).all():
        return True
    calls, is_return = parts.events >> 1, parts.events & 1 == 1
    put = enqueue[calls] & ~is_return
    taken = is_return & ~enqueue[calls] & (parts.rows[calls, 4] >= 0)
    most = int(np.cumsum(put.astype(np.int64) - taken).max(initial=0))
    return bool(np.isin(results, (1, UNKNOWN_RESULT)).all() and most <= int(capacities.min()))


class ByDequeues:
    """The searcher of queues that orders enqueues by their dequeues; a queue with a bound must never be full."""

    name = "dequeues"
    tells_order = True
    calls = ("advance_dequeues",)

    def accepts(self, problem: Problem, memory: int) -> bool:
        """Return whether the part is a queue that is never full."""
        rows = problem.parts.rows
        if problem.kind != "list" or not np.isin(rows[:, 0], (ENQUEUE, TAKE)).all():
            return False
        return bool((rows[:, 0] == ENQUEUE).any()) and _never_full(problem)

    def start(self, problem: Problem, memory: int, deadline: Deadline) -> Slices:
        """Search one part."""
        return _run(problem, memory, deadline)
