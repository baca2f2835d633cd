"""Execution graphs: what a run did, without the order in which it did so.

Example, message passing: thread 0 stores x = 1, then y = 1; thread 1 loads y, then x::

    Graph.record([
        Row(0, "W", "x", "rel", place=1, value=1),
        Row(0, "W", "y", "rel", place=1, value=1),
        Row(1, "R", "y", "acq", reads=1),
        Row(1, "R", "x", "acq", reads=INITIAL),
    ])

says that thread 1 saw the new y and the old x. Whether memory may do that is for `latchfree_explore.weak.axioms`.

The relations of a graph, in the words of the papers:

- ``po``, program order: from each event to the later events of its thread, and from initial writes to all the others.
- ``rf``, reads-from: from a write to each read that took its value.
- ``mo``, modification order: a total order of the writes of each word, the initial one first.
- ``rb``, reads-before (also called from-read): from a read to the writes that come in ``mo`` after the one it read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from latchfree_explore.weak.relations import Relation

Kind: TypeAlias = Literal["R", "W", "U", "C", "F"]
"""Read, write, update (a read-modify-write that wrote), compare-and-swap that failed (a read), fence."""

Order: TypeAlias = Literal["na", "rlx", "acq", "rel", "ar", "sc"]
"""Plain, relaxed, acquire, release, acquire and release, sequentially consistent."""

Place: TypeAlias = int | str
"""A word of memory, by number or by name."""

INITIAL: Final = -1
"""In `Row.reads`: the initial write of the word. In `Event.thread`: no thread, an initial write."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
READING: Final = "RUC"
WRITING: Final = "WU"


class Row(NamedTuple):
    """One access of a recorded run; see `Graph.record`.

    Attributes
    ----------
    thread : int
        From 0.
    kind : {"R", "W", "U", "C", "F"}
        "U" is a read-modify-write that wrote, "C" a compare-and-swap that failed.
    word : int or str or None
        None for a fence.
    order : {"na", "rlx", "acq", "rel", "ar", "sc"}
    reads : int or None
        For R, U and C: the index, in the list of rows, of the row whose write was read, or `INITIAL`.
    place : int or None
        For W and U: any number; writes of one word are in ``mo`` as their places are in size, after the initial
        write. Where writes take effect in the order in which they are made, the index of the row will do.
    value : int or None
        What a W or U wrote, if that matters to who looks at the graph. No axiom looks at values.
    """

    thread: int
    kind: Kind
    word: Place | None
    order: Order
    reads: int | None = None
    place: int | None = None
    value: int | None = None


class Event(NamedTuple):
    """One node of an execution graph: an access, or the initial write of a word (thread `INITIAL`)."""

    thread: int
    kind: Kind
    word: Place | None
    order: Order
    value: int | None = None


@dataclass(frozen=True)
class Graph:
    """An execution graph. It cannot be changed; relations are computed when first asked for.

    Attributes
    ----------
    events : tuple of Event
        The initial writes first; events of one thread in program order.
    source : tuple of int or None
        For each event the write it read from, None for what reads nothing.
    writes : mapping of word to tuple of int
        The writes of each word in modification order, the initial one first.
    """

    events: tuple[Event, ...]
    source: tuple[int | None, ...]
    writes: Mapping[Place, tuple[int, ...]]

    @classmethod
    def record(cls, rows: Sequence[Row], initial: Mapping[Any, int] | None = None) -> Graph:
        """Make the graph of a recorded run.

        Parameters
        ----------
        rows : sequence of Row
            The accesses. Those of one thread are in program order; how threads are mixed does not matter, and a row
            may read from a later one. Nothing is needed for the initial value of a word.
        initial : mapping of word to int, optional
            Initial values; 0 where nothing is said.

        Returns
        -------
        Graph
            Event ``len(graph.writes) + k`` is row ``k``: the initial writes of all words come first.

        Raises
        ------
        ValueError
            If a row makes no sense; the message names the row.
        """
        values: dict[Place, int] = dict(initial or {})
        words = list(dict.fromkeys([*values, *(row.word for row in rows if row.word is not None)]))
        first = len(words)
        for number, row in enumerate(rows):
            _check(number, row, rows)
        events = [
            *(Event(INITIAL, "W", word, "rlx", values.get(word, 0)) for word in words),
            *(Event(row.thread, row.kind, row.word, row.order, row.value) for row in rows),
        ]
        home = {word: number for number, word in enumerate(words)}
        source: list[int | None] = [None] * first
        for row in rows:
            if row.reads is None or row.word is None:
                source.append(None)
            else:
                source.append(home[row.word] if row.reads == INITIAL else first + row.reads)
        writes = {}
        for word in words:
            made = [
                (row.place, first + number)
                for number, row in enumerate(rows)
                if row.word == word and row.place is not None
            ]
            if len({place for place, _ in made}) < len(made):
                raise ValueError(f"word {word}: two writes have the same place in modification order")
            writes[word] = (home[word], *(event for _, event in sorted(made)))
        return cls(tuple(events), tuple(source), writes)

    @property
    def size(self) -> int:
        """How many events there are."""
        return len(self.events)

    def mask(self, holds: Callable[[Event], bool]) -> int:
        """Return the events of which something holds, as a mask."""
        return sum(1 << i for i, event in enumerate(self.events) if holds(event))

    def final(self) -> dict[Place, int | None]:
        """Return the value that each word holds in the end."""
        return {word: self.events[order[-1]].value for word, order in self.writes.items()}

    @cached_property
    def reads(self) -> int:
        """The events that read: R, U, C."""
        return self.mask(lambda event: event.kind in READING)

    @cached_property
    def stores(self) -> int:
        """The events that write: W, U, the initial writes."""
        return self.mask(lambda event: event.kind in WRITING)

    @cached_property
    def updates(self) -> int:
        """The read-modify-writes that wrote."""
        return self.mask(lambda event: event.kind == "U")

    @cached_property
    def fences(self) -> int:
        """The fences, of all orders."""
        return self.mask(lambda event: event.kind == "F")

    @cached_property
    def initial(self) -> int:
        """The initial writes."""
        return self.mask(lambda event: event.thread == INITIAL)

    def ordered(self, orders: Iterable[Order]) -> int:
        """Return the events of the threads that have one of these orders, as a mask."""
        wanted = frozenset(orders)
        return self.mask(lambda event: event.order in wanted and event.thread != INITIAL)

    @cached_property
    def same_word(self) -> Relation:
        """Pairs of events of one word, an event with itself included."""
        masks: dict[Place, int] = {}
        for i, event in enumerate(self.events):
            if event.word is not None:
                masks[event.word] = masks.get(event.word, 0) | 1 << i
        return tuple(0 if event.word is None else masks[event.word] for event in self.events)

    @cached_property
    def po(self) -> Relation:
        """Program order."""
        later: dict[int, int] = {}
        rows = []
        for i in range(self.size - 1, -1, -1):
            thread = self.events[i].thread
            if thread == INITIAL:
                rows.append((1 << self.size) - 1 & ~self.initial)
            else:
                rows.append(later.get(thread, 0))
                later[thread] = later.get(thread, 0) | 1 << i
        return tuple(reversed(rows))

    @cached_property
    def rf(self) -> Relation:
        """Reads-from."""
        rows = [0] * self.size
        for read, write in enumerate(self.source):
            if write is not None:
                rows[write] |= 1 << read
        return tuple(rows)

    @cached_property
    def mo(self) -> Relation:
        """Modification order, with all pairs: from each write to each later one of the word."""
        rows = [0] * self.size
        for order in self.writes.values():
            later = 0
            for write in reversed(order):
                rows[write] = later
                later |= 1 << write
        return tuple(rows)

    @cached_property
    def rb(self) -> Relation:
        """Reads-before."""
        return tuple(0 if write is None else self.mo[write] & ~(1 << read) for read, write in enumerate(self.source))

    @cached_property
    def external(self) -> Relation:
        """Pairs of events that no thread has both of."""
        masks: dict[int, int] = {}
        for i, event in enumerate(self.events):
            masks[event.thread] = masks.get(event.thread, 0) | 1 << i
        return tuple((1 << self.size) - 1 & ~masks[event.thread] for event in self.events)

    @cached_property
    def atomic(self) -> bool:
        """Whether each update comes right after the write that it read, in modification order."""
        return all(
            event.kind != "U" or event.word is None or self._just_before(i, event.word) == self.source[i]
            for i, event in enumerate(self.events)
        )

    def _just_before(self, write: int, word: Place) -> int:
        """Return the write before another in modification order."""
        order = self.writes[word]
        return order[order.index(write) - 1]


def _check(number: int, row: Row, rows: Sequence[Row]) -> None:
    """Refuse a row that makes no sense."""
    where = f"row {number} ({row.kind} of {row.word})"
    if row.kind not in KINDS:
        raise ValueError(f"row {number}: no kind {row.kind!r}; there are {', '.join(KINDS)}")
    if row.order not in ORDERS:
        raise ValueError(f"{where}: no order {row.order!r}; there are {', '.join(ORDERS)}")
    if row.thread < 0:
        raise ValueError(f"{where}: thread {row.thread}; threads are numbered from 0")
    if (row.word is None) != (row.kind == "F"):
        raise ValueError(f"{where}: a fence has no word, everything else has one")
    if (row.place is None) == (row.kind in WRITING):
        raise ValueError(f"{where}: what writes has a place in modification order, and nothing else has")
    if (row.reads is None) == (row.kind in READING):
        raise ValueError(f"{where}: what reads names the row it read from, and nothing else does")
    if row.reads is None or row.reads == INITIAL:
        return
    if not 0 <= row.reads < len(rows) or row.reads == number:
        raise ValueError(f"{where}: reads row {row.reads}, which is no other row")
    read = rows[row.reads]
    if read.kind not in WRITING or read.word != row.word:
        raise ValueError(f"{where}: reads row {row.reads}, which does not write the word")
