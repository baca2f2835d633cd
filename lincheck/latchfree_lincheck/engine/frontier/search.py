"""Just-in-time linearization from the outside: tables that grow, slices between looks at the clock."""

from __future__ import annotations

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.frontier.kernels import configurations as k
from latchfree_lincheck.engine.outcome import Origin, Outcome, Slices
from latchfree_lincheck.engine.store import NoRoom, Store, doubled
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

_SLICE = 50_000
_CONFIGURATIONS = 512
_LOG = 1 << 14


class Tables(Store):
    """The configurations, where they are found, and the paths to them.

    Parameters
    ----------
    memory : int
        The most bytes all tables may take.
    deadline : Deadline
        When the search ends.
    """

    def __init__(self, memory: int, deadline: Deadline) -> None:
        super().__init__(memory, deadline)
        self.configurations: Ints = np.empty((_CONFIGURATIONS, k.COLUMNS), np.int64)
        self.kept: Ints = np.empty((_CONFIGURATIONS, k.COLUMNS), np.int64)
        self.table: Ints = np.zeros(4 * _CONFIGURATIONS, np.int64)
        self.log: Ints = np.empty((_LOG, 2), np.int64)
        self.owner, self.lost_owner, self.twins = np.zeros((3, k.SLOTS), np.int64)
        self.control: Ints = np.zeros(k.CONTROL_FIELDS, np.int64)
        self.flight: Ints = np.zeros(k.FLIGHT_FIELDS, np.int64)

    def arrays(self) -> k.FrontierArrays:
        """Return the arrays of the frontier, until they grow."""
        return k.FrontierArrays(
            self.control, self.flight, self.owner, self.lost_owner, self.twins, self.configurations, self.kept,
            self.table, self.log,
        )  # fmt: skip

    def taken(self) -> int:
        """Return how much memory the tables take."""
        mine = (self.configurations, self.kept, self.table, self.log)
        return super().taken() + sum(array.nbytes for array in mine)

    def more_configurations(self) -> None:
        """Double the room for configurations."""
        self.require(2 * self.configurations.nbytes + 2 * self.kept.nbytes + 2 * self.table.nbytes)
        self.configurations, self.kept = doubled(self.configurations), doubled(self.kept)
        self.table = np.zeros(2 * len(self.table), np.int64)
        ENGINE.rehash(self.control, self.configurations, self.table)

    def more_log(self) -> None:
        """Double the room for paths."""
        self.require(2 * self.log.nbytes)
        self.log = doubled(self.log)


class Frontier:
    """One part.

    Parameters
    ----------
    problem : Problem
        The part.
    memory : int
        The most bytes its tables may take.
    deadline : Deadline
        When the search ends; the caller looks at it between slices.
    """

    def __init__(self, problem: Problem, memory: int, deadline: Deadline) -> None:
        self._problem = problem
        self._parts = problem.parts
        self._deadline = deadline
        self._tables = Tables(memory, deadline)
        self._rows = problem.parts.rows.copy()
        self._part = problem.arrays(self._rows)
        n = len(self._rows)
        self._order = np.empty(n, np.int64)
        self._place = np.empty(n, np.int64)
        growth = problem.growth()
        self._scratch: Ints = np.empty(max(growth, 1 << problem.depth), np.int64)
        self._shape: Ints  # of the tables, when the search begins
        self._uses: Ints = np.zeros(0, np.int64)
        self._tables.control[k.GROWTH] = k.OF_LIST if problem.kind == "list" else growth

    def run(self) -> Slices:
        """Yield after each slice; return the outcome. Tables that grow end no slice, however often they do."""
        tables, parts = self._tables, self._parts
        last = len(parts.events) if self._problem.until is None else self._problem.until
        try:
            if self._problem.texts:
                tables.number_texts(self._rows, self._problem.texts)
                self._uses = np.full(int(tables.size[0]), -1)
                ENGINE.last_uses(self._uses, tables.nodes, parts.events, parts.return_, self._rows)
            own, depth, initial = self._problem.own, self._problem.depth, self._problem.initial
            self._shape = tables.shape(depth, len(initial)) if own is None else own.shape()
            state = tables.number(initial, depth) if own is None else tables.chain(initial)
            ENGINE.start(tables.control, tables.flight, tables.configurations, state, 0)
            begun = 0
            while True:
                why = self._slice(last, _SLICE + begun - int(tables.control[k.STEPS]))
                if why == k.DONE:
                    return self._order_found()
                if why == k.BLOCKED:
                    return self._blocked()
                if why == k.CROWDED:
                    return Outcome(gave_up="crowded")
                if why == k.MORE_CONFIGURATIONS:
                    tables.more_configurations()
                elif why == k.MORE_LOG:
                    tables.more_log()
                elif why == k.MORE_NODES:
                    tables.room_for_nodes(len(tables.nodes) - int(tables.size[0]) + 1)
                if tables.control[k.STEPS] - begun >= _SLICE or why == k.SLICE or self._deadline.passed():
                    yield
                    begun = int(tables.control[k.STEPS])
        except NoRoom as reason:
            return Outcome(gave_up=reason.gave_up)

    def _slice(self, last: int, steps: int) -> int:
        tables = self._tables
        before = int(tables.control[k.STEPS])
        why: int = ENGINE.advance(
            tables.arrays(), self._part, tables.states(), self._shape, self._place, self._order, self._scratch,
            self._uses, last, self._deadline.slice(steps),
        )  # fmt: skip
        self._deadline.spend(int(tables.control[k.STEPS]) - before)
        if self._problem.own is not None:
            self._problem.own.require_no_failure(self._shape)
        return why

    def _found(self, path: int) -> Ints:
        written = ENGINE.write_path(self._tables.log, path, self._order, int(self._tables.control[k.WRITTEN]))
        return self._parts.index[self._order[:written]]

    def _order_found(self) -> Outcome:
        return Outcome(self._found(int(self._tables.configurations[0, k.PATH])))

    def _blocked(self) -> Outcome:
        """Say where the frontier became empty, and what the last certain configuration was."""
        tables, control, parts = self._tables, self._tables.control, self._parts
        operation = int(parts.events[control[k.EVENT]]) >> 1
        path = ENGINE.longest(tables.configurations, int(control[k.FILLED]), tables.log)
        order = self._found(path)
        return Outcome(order, blocked=int(parts.index[operation]), origin=self._origin(order))

    def _origin(self, order: Ints) -> Origin | None:
        if self._problem.kind != "value":
            return None
        control, parts = self._tables.control, self._parts
        contents = self._tables.values(int(control[k.ORIGIN_STATE]), self._problem.depth, len(self._problem.initial))
        since = int(control[k.ORIGIN])
        before = order[: int(control[k.ORIGIN_WRITTEN])]
        pending = parts.index[(parts.return_ == NEVER_RETURNS) & (parts.invoke < since)]
        later = parts.index[parts.invoke >= since]
        left = np.array(sorted({*pending.tolist()} - {*before.tolist()}), np.int64)
        return Origin(contents, np.concatenate([left, later]), len(before))


class JustInTime:
    """The searcher that carries a frontier from event to event."""

    name = "frontier"
    tells_order = True
    calls = ("advance",)

    def accepts(self, problem: Problem, memory: int) -> bool:
        """Return True: the frontier takes every problem."""
        return True

    def start(self, problem: Problem, memory: int, deadline: Deadline) -> Slices:
        """Search one part."""
        return Frontier(problem, memory, deadline).run()
