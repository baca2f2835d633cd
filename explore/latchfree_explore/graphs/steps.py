"""Execution graphs under construction: what was added, in the order added; what reads took; the writes of each word.

Example: thread 0 stores x, thread 1 exchanges x. The steps are the store, the read of the exchange and the write of the
exchange, its *half*. The machine makes both halves of an update in one step.

A step is a number in the order added; `INITIAL` stands for what a word held to begin with. Words that only plain
accesses touch are not in the graph. A poke of a word that atomic accesses wrote is: it follows what its thread did
before, at once, and comes last in its word's order, since nothing races with it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from latchfree_explore.board import layout as b
from latchfree_explore.weak.graph import INITIAL, Graph, Kind, Order, Row

Part: TypeAlias = Literal["read", "write", "half", "poke", "fence", "other"]

WRITES: Final = ("write", "half", "poke")
_LOW: Final = (1 << 64) - 1
_SIGN: Final = 1 << 63


class Step(NamedTuple):
    """What was added at once.

    Attributes
    ----------
    thread : int
    part : {"read", "write", "half", "poke", "fence", "other"}
        "other" orders nothing: a plain access that is a step, or none at all.
    word : int
        -1 for none.
    order : {"na", "rlx", "acq", "rel", "ar", "sc"}
    kind : int
        The kind of access, as the board numbers them.
    expected, operand : int
        What the access was given.
    value : int or None
        What a write wrote.
    call : int
        The operation that made it.
    """

    thread: int
    part: Part
    word: int = -1
    order: Order = "na"
    kind: int = b.NOTHING
    expected: int = 0
    operand: int = 0
    value: int | None = None
    call: int = -1

    def written(self, old: int) -> int | None:
        """Return what the access of this read writes after it has read `old`, None for nothing."""
        kind, operand = self.kind, self.operand
        if kind < b.STORE or (kind == b.CAS and old != self.expected):
            return None
        if kind in (b.CAS, b.EXCHANGE):
            return operand
        if kind == b.FETCH_ADD:
            return signed(old + operand)
        if kind in (b.FETCH_OR, b.FETCH_AND):
            return old | operand if kind == b.FETCH_OR else old & operand
        least = min if kind == b.FETCH_MIN else max
        return least(old, operand, key=lambda value: value & _LOW)


def signed(value: int) -> int:
    """Return a word as the board has it: between -2**63 and 2**63 - 1."""
    value &= _LOW
    return value - (1 << 64) if value & _SIGN else value


class State(NamedTuple):
    """A graph under construction.

    Attributes
    ----------
    steps : tuple of Step
        In the order added.
    source : dict of int to int
        For each read the write that it took.
    writes : dict of int to tuple of int
        The writes of each word in modification order, `INITIAL` first.
    """

    steps: tuple[Step, ...]
    source: dict[int, int]
    writes: dict[int, tuple[int, ...]]

    def order(self, word: int) -> tuple[int, ...]:
        """Return the writes of a word in modification order."""
        return self.writes.get(word, (INITIAL,))

    def added(self, step: Step, source: int | None = None) -> State:
        """Return the graph with a step more that writes nothing, and what it reads."""
        number = len(self.steps)
        read = self.source if source is None else {**self.source, number: source}
        return State((*self.steps, step), read, self.writes)

    def placed(self, write: Step, place: int, reader: int | None = None) -> State:
        """Return the graph with a write more, at a place of its word's order; a read may take it."""
        number, order = len(self.steps), self.order(write.word)
        source = self.source if reader is None else {**self.source, reader: number}
        writes = {**self.writes, write.word: (*order[:place], number, *order[place:])}
        return State((*self.steps, write), source, writes)

    def without(self, gone: frozenset[int], read: int) -> State:
        """Return the graph with steps taken out, and with a read that is about to take another write."""
        kept = [each for each in range(len(self.steps)) if each not in gone]
        now = {INITIAL: INITIAL, **{each: number for number, each in enumerate(kept)}}
        source = {now[r]: now[w] for r, w in self.source.items() if r in now and r != read}
        writes = {word: tuple(now[w] for w in order if w in now) for word, order in self.writes.items()}
        return State(tuple(self.steps[each] for each in kept), source, writes)

    def previous(self) -> list[int]:
        """Return for each step the one before it in its thread, -1 for none."""
        last: dict[int, int] = {}
        found = []
        for number, step in enumerate(self.steps):
            found.append(last.get(step.thread, -1))
            last[step.thread] = number
        return found

    def last(self, thread: int) -> int:
        """Return the last step of a thread, -1 for none."""
        return next((n for n in range(len(self.steps) - 1, -1, -1) if self.steps[n].thread == thread), -1)

    def in_order(self, more: dict[int, list[int]] | None = None) -> list[int]:
        """Return the steps so that what a thread did comes before what it does, and a write before its reads.

        Else they stand as they were added. `more` has further steps that come before a step; empty if they cannot.
        """
        if not more and all(write < read for read, write in self.source.items()):
            return list(range(len(self.steps)))
        previous, found = self.previous(), []
        seen = {INITIAL}
        begun: set[int] = set()

        def before(number: int) -> tuple[int, ...]:
            return (previous[number], self.source.get(number, INITIAL), *(more.get(number, ()) if more else ()))

        for start in range(len(self.steps)):
            waiting = [start]
            while waiting:
                number = waiting[-1]
                missing = [each for each in before(number) if each not in seen]
                if number in seen or not missing:
                    waiting.pop()
                    if number not in seen:
                        seen.add(number)
                        found.append(number)
                else:
                    begun.add(number)
                    if not begun.isdisjoint(missing):
                        return []
                    waiting += missing
        return found


class Rows(NamedTuple):
    """A graph's steps as rows of an execution graph: the rows, and for each step the number of its row, -1 for none."""

    rows: list[Row]
    row_of: list[int]

    def graph(self) -> Graph:
        """Return the execution graph."""
        return Graph.record(self.rows)


def rows_of(state: State) -> Rows:
    """Return the rows of a state.

    An update is one row, and two steps. A read whose half is missing is a compare-and-swap that failed.
    """
    row_of: list[int] = []
    last: dict[int, int] = {}
    rows = 0
    for step in state.steps:
        if step.part not in ("half", "other"):
            last[step.thread] = rows
            rows += 1
        row_of.append(-1 if step.part == "other" else last[step.thread])
    place = {number: at for order in state.writes.values() for at, number in enumerate(order)}
    made: list[Row] = []
    for number, step in enumerate(state.steps):
        if step.part == "fence":
            made.append(Row(step.thread, "F", None, step.order))
        elif step.part == "read":
            kind: Kind = "R" if step.kind < b.STORE else "C"
            source = state.source[number]
            made.append(Row(step.thread, kind, step.word, step.order, INITIAL if source < 0 else row_of[source]))
        elif step.part == "half":
            made[row_of[number]] = made[row_of[number]]._replace(kind="U", place=place[number], value=step.value)
        elif step.part != "other":
            made.append(Row(step.thread, "W", step.word, step.order, None, place[number], step.value))
    return Rows(made, row_of)
