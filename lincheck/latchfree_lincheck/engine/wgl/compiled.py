"""The compiled search from the outside: tables that grow, slices between looks at the clock, endings taken out."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline, GaveUp
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, SNAPSHOT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.outcome import Slices
from latchfree_lincheck.engine.pieces import MOST_ENDINGS, Blocked, Configuration, Ending, Found, linearize
from latchfree_lincheck.engine.store import NoRoom, Store, doubled
from latchfree_lincheck.engine.wgl.kernels import search as k
from latchfree_lincheck.history.timeline import Ints

_SLICE = 50_000
_CROWDED = 1 << 20


class Tables(Store):
    """The memo, beside the states.

    Parameters
    ----------
    memory : int
        The most bytes they may take together.
    deadline : Deadline
        When the search ends.
    """

    def __init__(self, memory: int, deadline: Deadline) -> None:
        super().__init__(memory, deadline)
        self.memo: Ints = np.zeros(1 << 11, np.int64)
        self.entry: Ints = np.empty(1 << 10, np.int64)
        self.pool: npt.NDArray[np.int32] = np.empty(1 << 13, np.int32)
        self.base = 0

    def taken(self) -> int:
        """Return how much memory the tables take."""
        return super().taken() + self.memo.nbytes + self.entry.nbytes + self.pool.nbytes

    def forget_memo(self) -> int:
        """Empty the memo: slots up to the returned base no longer count."""
        self.base += len(self.entry)
        return self.base

    def room_in_pool(self, wanted: int) -> None:
        """Make the pool at least that large."""
        while len(self.pool) < wanted:
            self.require(2 * self.pool.nbytes)
            self.pool = doubled(self.pool)

    def more_entries(self, control: Ints) -> None:
        """Double the number of entries the memo can hold."""
        self.require(2 * (self.entry.nbytes + self.memo.nbytes))
        self.entry = doubled(self.entry)
        self.memo = np.zeros(2 * len(self.memo), np.int64)
        ENGINE.rehash_memo(control, self.memo, self.entry, self.pool)


class CompiledSearch:
    """Searches over the rows of one part.

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
        self.timeline = timeline = problem.timeline()
        self._problem = problem
        self._deadline = deadline
        self._tables = tables = Tables(memory, deadline)
        self._rows: Rows = problem.parts.rows[problem.parts.positions(0)]
        self._snapshots = np.flatnonzero((self._rows[:, 0] == SNAPSHOT) & (self._rows[:, 4] >= 0))
        self._seen = self._rows[self._snapshots, 4].copy()
        self._keys = len(problem.initial)
        self._depth = problem.depth
        invokes = np.concatenate([timeline.invoke, timeline.pending])
        self._twins = _earlier_twins(self._rows[len(timeline.invoke) :])
        self._calls = k.CallArrays(self._rows, timeline.return_, invokes, self._twins, problem.pieces)
        self._bits = np.zeros((len(self._twins) + k.BITS - 1) // k.BITS, np.int32)
        self._record = 3 + timeline.overlap() + len(self._bits)
        self._growth = problem.growth()
        self._scratch = np.empty(max(self._growth, self._depth, 1), np.int64)
        self._control = np.zeros(k.FIELDS, np.int64)
        self._shape: Ints  # of the tables, when a piece begins
        self._no_room: GaveUp = ""
        try:
            tables.number_texts(self._rows, problem.texts)
        except NoRoom as reason:
            self._no_room = reason.gave_up
        self._known = int(tables.size[0]) if problem.texts else -1

    def initial(self) -> Configuration:
        """Return where the history starts."""
        begins = self._problem.kind in ("value", "words")
        return Configuration(tuple(self._problem.initial.tolist()) if begins else ())

    def search(
        self, low: int, high: int, starts: Sequence[Configuration], *, every: bool, budget: int | None
    ) -> Generator[None, None, Found]:
        """See `latchfree_lincheck.engine.pieces.PieceSearch`."""
        if self._no_room:
            return Found(gave_up=self._no_room)
        try:
            self._prepare(low, high)
            return (yield from self._search(high - low, starts, every=every, budget=budget))
        except NoRoom as reason:
            return Found(gave_up=reason.gave_up)

    def _search(
        self, count: int, starts: Sequence[Configuration], *, every: bool, budget: int | None
    ) -> Generator[None, None, Found]:
        """Search the piece that was prepared, from each start in turn."""
        control = self._control
        stack = np.empty((count + len(self._twins), 4), np.int64)
        saved = np.empty(len(stack), np.int64)
        path = k.PathArrays(np.arange(1, count + 3), np.arange(-1, count + 1), stack, saved)
        endings: dict[tuple[object, frozenset[int]], Ending] = {}
        blocked: Blocked | None = None
        spent = 0
        for parent, start in enumerate(starts):
            reached = control[k.BLOCKED_AT], control[k.BLOCKED_TOP]
            control[[k.PHASE, k.TOP, k.HIGH, k.SAVED, k.STEPS]] = 0
            control[k.STATE] = self._enter(start.state)
            self._bits.fill(0)
            for number in start.used:
                self._bits[number // k.BITS] |= 1 << number % k.BITS
            while True:
                why = self._slice(path)
                if why == k.DONE:
                    break
                if why == k.ENDING:
                    ending = self._ending(parent, stack)
                    if not every:
                        return Found([ending])
                    endings.setdefault((ending.configuration.state, ending.configuration.used), ending)
                    if len(endings) > MOST_ENDINGS:
                        return Found(gave_up="budget")
                else:
                    self._grow(why)
                    yield
                if budget is not None and spent + control[k.STEPS] > budget:
                    return Found(gave_up="budget")
            spent += int(control[k.STEPS])
            if (control[k.BLOCKED_AT], control[k.BLOCKED_TOP]) != reached:
                operation = int(np.flatnonzero(self.timeline.return_ == control[k.BLOCKED_AT])[0])
                blocked = Blocked(operation, parent, saved[: control[k.BLOCKED_TOP]].copy())
        return Found(list(endings.values()), None if endings else blocked)

    def _slice(self, path: k.PathArrays) -> int:
        """Run the kernel once."""
        tables = self._tables
        before = int(self._control[k.STEPS])
        memo = k.MemoArrays(tables.memo, tables.entry, tables.pool)
        why: int = ENGINE.search(
            self._control, self._shape, self._calls, path, self._bits, memo, tables.states(), self._scratch,
            self._deadline.slice(_SLICE),
        )  # fmt: skip
        self._deadline.spend(int(self._control[k.STEPS]) - before)
        if self._problem.own is not None:
            self._problem.own.require_no_failure(self._shape)
        return why

    def _grow(self, why: int) -> None:
        """Make larger what the kernel found too small."""
        if why == k.MORE_NODES:
            self._tables.room_for_nodes(2 * self._growth + 1)
        elif why == k.MORE_POOL:
            self._tables.room_in_pool(int(self._control[k.POOL]) + self._record)
        elif why == k.MORE_ENTRIES:
            self._tables.more_entries(self._control)

    def _prepare(self, low: int, high: int) -> None:
        """Begin a piece: forget the memo, and the states when there are many; number what snapshots saw."""
        tables, control = self._tables, self._control
        if self._known < 0 and tables.size[0] > _CROWDED:
            tables.forget_states()
        first, last = np.searchsorted(self._snapshots, [low, high])
        for index in range(first, last):
            seen = self._problem.contents[self._seen[index]]
            self._rows[self._snapshots[index], 4] = tables.number(seen, self._depth)
        control[k.BASE] = tables.forget_memo()
        control[[k.ENTRIES, k.POOL]] = 0
        control[[k.BLOCKED_AT, k.BLOCKED_TOP]] = -1
        control[k.LOW], control[k.COUNT] = low, high - low
        control[k.GROWTH], control[k.RECORD] = self._growth, self._record
        control[k.KNOWN] = self._known
        own = self._problem.own
        self._shape = tables.shape(self._depth, self._keys) if own is None else own.shape()

    def _enter(self, state: tuple[int, ...]) -> int:
        """Return the number of a configuration's state: a map's values, a list's from its end, or words."""
        values = np.array(state, np.int64)
        return self._tables.number(values, self._depth) if self._problem.kind == "value" else self._tables.chain(values)

    def _leave(self, number: int) -> tuple[int, ...]:
        """Return what `_enter` takes."""
        nodes = self._tables.nodes
        if self._problem.kind == "value":
            return tuple(self._tables.values(number, self._depth, self._keys).tolist())
        chain = []
        while number != ABSENT:
            chain.append(int(nodes[number, 1]))
            number = int(nodes[number, 0])
        return tuple(chain[::-1])

    def _ending(self, parent: int, stack: Ints) -> Ending:
        """Return the ending that the kernel stopped at."""
        control = self._control
        words = self._bits.tolist()
        used = frozenset(n for n in range(len(self._twins)) if words[n // k.BITS] >> n % k.BITS & 1)
        state = self._leave(int(control[k.STATE]))
        return Ending(Configuration(state, used), parent, stack[: control[k.TOP], 0].copy())


class DepthFirst:
    """The searcher that goes depth first, piece by piece between quiescent points."""

    name = "wgl"
    tells_order = True
    calls = ("search",)

    def accepts(self, problem: Problem, memory: int) -> bool:
        """Return True: the depth-first search takes every problem."""
        return True

    def start(self, problem: Problem, memory: int, deadline: Deadline) -> Slices:
        """Search one part. Nothing is done before the first turn, as another search may need only one."""
        return (yield from linearize(CompiledSearch(problem, memory, deadline)))


def _earlier_twins(rows: Rows) -> Ints:
    """For each pending row, the latest identical one before it, or -1."""
    latest: dict[tuple[int, ...], int] = {}
    twins = np.full(len(rows), -1, np.int64)
    for number, row in enumerate(map(tuple, rows.tolist())):
        twins[number] = latest.get(row, -1)
        latest[row] = number
    return twins
