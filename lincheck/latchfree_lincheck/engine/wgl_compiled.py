"""The compiled search from the outside: tables that grow, slices between looks at the clock, endings taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.engine import wgl_kernel as k
from latchfree_lincheck.engine.opcodes import ABSENT, APPEND, PUT, SNAPSHOT
from latchfree_lincheck.engine.search import MOST_ENDINGS, Blocked, Configuration, Deadline, Ending, Found
from latchfree_lincheck.engine.states import build, extend, fetch, rehash_nodes
from latchfree_lincheck.engine.timeline import Ints, Timeline

_SLICE = 50_000
_CROWDED = 1 << 20
_NONE = np.zeros(0, np.int64)

Scalar = TypeVar("Scalar", bound=np.generic)


class Tables:
    """The tables that grow: states and memo. One set serves many timelines, one after the other.

    Parameters
    ----------
    memory : int
        The most bytes they may take together.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.nodes: Ints = np.empty((1 << 10, 2), np.int64)
        self.slots: Ints = np.zeros(1 << 11, np.int64)
        self.size: Ints = np.zeros(1, np.int64)
        self.memo: Ints = np.zeros(1 << 11, np.int64)
        self.entry: Ints = np.empty(1 << 10, np.int64)
        self.pool: npt.NDArray[np.int32] = np.empty(1 << 13, np.int32)
        self.base = 0

    def forget_memo(self) -> int:
        """Empty the memo: slots up to the returned base no longer count."""
        self.base += len(self.entry)
        return self.base

    def forget_states(self) -> None:
        """Empty the store of states."""
        self.size[0] = 0
        self.slots.fill(0)

    def room_for_nodes(self, wanted: int) -> bool:
        """Make room for that many more nodes; return False if memory does not allow it."""
        wanted += int(self.size[0])
        while len(self.nodes) < wanted:
            if self._bytes() + 2 * (self.nodes.nbytes + self.slots.nbytes) > self.memory:
                return False
            self.nodes = _doubled(self.nodes)
            self.slots = np.zeros(2 * len(self.slots), np.int64)
            rehash_nodes(self.nodes, self.slots, self.size)
        return True

    def room_in_pool(self, wanted: int) -> bool:
        """Make the pool at least that large; return False if memory does not allow it."""
        while len(self.pool) < wanted:
            if self._bytes() + 2 * self.pool.nbytes > self.memory:
                return False
            self.pool = _doubled(self.pool)
        return True

    def more_entries(self, control: Ints) -> bool:
        """Double the number of entries the memo can hold; return False if memory does not allow it."""
        if self._bytes() + 2 * (self.entry.nbytes + self.memo.nbytes) > self.memory:
            return False
        self.entry = _doubled(self.entry)
        self.memo = np.zeros(2 * len(self.memo), np.int64)
        k.rehash_memo(control, self.memo, self.entry, self.pool)
        return True

    def _bytes(self) -> int:
        tables = (self.nodes, self.slots, self.memo, self.entry, self.pool)
        return sum(table.nbytes for table in tables)


def _doubled(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


class _NoRoom(Exception):
    """The tables may not grow any more."""


class CompiledEngine:
    """Searches over the rows of a timeline.

    Parameters
    ----------
    timeline : Timeline
        When the operations ran.
    rows : int64[n + m, 5]
        What they did (see `opcodes`), by the timeline's numbers. A snapshot's result is a row of `contents`; an
        append's a and b are a slice of `pieces`.
    initial : int64[keys]
        The values at the beginning; one ABSENT for a register or a string.
    contents : int64[s, keys]
        What the snapshots saw.
    pieces : int64[bytes]
        The strings appended.
    texts : sequence of bytes
        If given, the values and results that are not ABSENT or UNKNOWN_RESULT are indices of these strings.
    tables : Tables
        Used by one engine at a time.
    """

    def __init__(
        self,
        timeline: Timeline,
        rows: Ints,
        initial: Ints,
        tables: Tables,
        *,
        contents: Ints | None = None,
        pieces: Ints = _NONE,
        texts: Sequence[bytes] = (),
    ) -> None:
        self.timeline = timeline
        self._tables = tables
        self._rows = np.array(rows)
        self._snapshots = np.flatnonzero((rows[:, 0] == SNAPSHOT) & (rows[:, 4] >= 0))
        self._seen = rows[self._snapshots, 4]
        self._contents = contents
        self._pieces = pieces
        self._keys = len(initial)
        self._depth = (self._keys - 1).bit_length()
        self._initial = initial
        self._invokes = np.concatenate([timeline.invoke, timeline.pending])
        self._twins = _earlier_twins(self._rows[len(timeline.invoke) :])
        self._bits = np.zeros((len(self._twins) + k.BITS - 1) // k.BITS, np.int32)
        self._path = np.empty(max(self._depth, 1), np.int64)
        self._record = 3 + timeline.overlap() + len(self._bits)
        longest = int(np.where(rows[:, 0] == APPEND, rows[:, 3], 0).max(initial=0))
        self._growth = max(self._depth, longest)
        self._control = np.zeros(k.FIELDS, np.int64)
        tables.forget_states()
        self._out_of_memory = not self._number_texts(texts)
        self._known = int(tables.size[0]) if texts else -1

    def _number_texts(self, texts: Sequence[bytes]) -> bool:
        """Turn indices of texts into states; return False if memory does not allow it."""
        if not texts:
            return True
        numbers = np.empty(len(texts), np.int64)
        tables = self._tables
        for index, text in enumerate(texts):
            if not tables.room_for_nodes(len(text)):
                return False
            piece = np.frombuffer(text, np.uint8).astype(np.int64)
            numbers[index] = extend(tables.nodes, tables.slots, tables.size, ABSENT, piece)
        put = (self._rows[:, 0] == PUT) & (self._rows[:, 2] >= 0)
        self._rows[put, 2] = numbers[self._rows[put, 2]]
        known = self._rows[:, 4] >= 0
        self._rows[known, 4] = numbers[self._rows[known, 4]]
        return True

    def initial(self) -> Configuration:
        """Return where the history starts; states are tuples of values, or a number if there is one key."""
        if self._keys == 1:
            return Configuration(int(self._initial[0]))
        return Configuration(tuple(self._initial.tolist()))

    def search(
        self,
        low: int,
        high: int,
        starts: Sequence[Configuration],
        *,
        every: bool,
        budget: int | None,
        deadline: Deadline,
    ) -> Found:
        """See `latchfree_lincheck.engine.search.Engine`."""
        if self._out_of_memory:
            return Found(gave_up="memory")
        try:
            self._prepare(low, high)
            return self._search(high - low, starts, every=every, budget=budget, deadline=deadline)
        except _NoRoom:
            return Found(gave_up="memory")

    def _search(
        self, count: int, starts: Sequence[Configuration], *, every: bool, budget: int | None, deadline: Deadline
    ) -> Found:
        """Search the piece that was prepared, from each start in turn."""
        control = self._control
        stack = np.empty((count + len(self._twins), 4), np.int64)
        saved = np.empty(len(stack), np.int64)
        following = np.arange(1, count + 3)
        preceding = np.arange(-1, count + 1)
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
                why = self._slice(following, preceding, stack, saved)
                if why == k.DONE:
                    break
                if why == k.ENDING:
                    ending = self._ending(parent, stack)
                    if not every:
                        return Found([ending])
                    endings.setdefault((ending.configuration.state, ending.configuration.used), ending)
                    if len(endings) > MOST_ENDINGS:
                        return Found(gave_up="budget")
                elif why != k.SLICE and not self._grow(why):
                    raise _NoRoom
                if deadline.passed():
                    return Found(gave_up="timeout")
                if budget is not None and spent + control[k.STEPS] > budget:
                    return Found(gave_up="budget")
            spent += int(control[k.STEPS])
            if (control[k.BLOCKED_AT], control[k.BLOCKED_TOP]) != reached:
                operation = int(np.flatnonzero(self.timeline.return_ == control[k.BLOCKED_AT])[0])
                blocked = Blocked(operation, parent, saved[: control[k.BLOCKED_TOP]].copy())
        return Found(list(endings.values()), None if endings else blocked)

    def _slice(self, following: Ints, preceding: Ints, stack: Ints, saved: Ints) -> int:
        """Run the kernel once."""
        tables = self._tables
        return k.search(
            self._control, self._rows, self.timeline.return_, self._invokes, self._twins, following, preceding,
            stack, saved, self._bits, tables.memo, tables.entry, tables.pool, tables.nodes, tables.slots, tables.size,
            self._pieces, self._path, _SLICE,
        )  # fmt: skip

    def _grow(self, why: int) -> bool:
        """Make larger what the kernel found too small."""
        if why == k.MORE_NODES:
            return self._tables.room_for_nodes(self._growth)
        if why == k.MORE_POOL:
            return self._tables.room_in_pool(int(self._control[k.POOL]) + self._record)
        return self._tables.more_entries(self._control)

    def _prepare(self, low: int, high: int) -> None:
        """Begin a piece: forget the memo, and the states when there are many; number what snapshots saw."""
        tables, control = self._tables, self._control
        if self._depth and tables.size[0] > _CROWDED:
            tables.forget_states()
        first, last = np.searchsorted(self._snapshots, [low, high])
        for index in range(first, last):
            assert self._contents is not None
            self._rows[self._snapshots[index], 4] = self._number(self._contents[self._seen[index]])
        control[k.BASE] = tables.forget_memo()
        control[[k.ENTRIES, k.POOL]] = 0
        control[[k.BLOCKED_AT, k.BLOCKED_TOP]] = -1
        control[k.LOW], control[k.COUNT] = low, high - low
        control[k.DEPTH], control[k.KEYS] = self._depth, self._keys
        control[k.GROWTH], control[k.RECORD] = self._growth, self._record
        control[k.KNOWN] = self._known
        control[k.EMPTY] = self._number(np.full(self._keys, ABSENT))

    def _number(self, values: Ints) -> int:
        """Return the number of the state that holds `values`."""
        if not self._tables.room_for_nodes(1 << self._depth):
            raise _NoRoom
        leaves = np.full(1 << self._depth, ABSENT, np.int64)
        leaves[: self._keys] = values
        return build(self._tables.nodes, self._tables.slots, self._tables.size, self._depth, leaves)

    def _enter(self, state: object) -> int:
        """Return the number of a configuration's state."""
        return self._number(np.array(state, np.int64))

    def _ending(self, parent: int, stack: Ints) -> Ending:
        """Return the ending that the kernel stopped at."""
        control, nodes = self._control, self._tables.nodes
        state: object = int(control[k.STATE])
        if self._keys > 1:
            state = tuple(int(fetch(nodes, self._depth, int(control[k.STATE]), key)) for key in range(self._keys))
        words = self._bits.tolist()
        used = frozenset(n for n in range(len(self._twins)) if words[n // k.BITS] >> n % k.BITS & 1)
        return Ending(Configuration(state, used), parent, stack[: control[k.TOP], 0].copy())


def _earlier_twins(rows: Ints) -> Ints:
    """For each pending row, the latest identical one before it, or -1."""
    latest: dict[tuple[int, ...], int] = {}
    twins = np.full(len(rows), -1, np.int64)
    for number, row in enumerate(map(tuple, rows.tolist())):
        twins[number] = latest.get(row, -1)
        latest[row] = number
    return twins
