"""Which operations of a graph may have returned before others began.

Example: one thread puts, another gets and finds nothing. In real time the get may have returned before the put began,
or the two may have overlapped. The put cannot have returned before the get began: the client would have been told, and
the get would have found the value.

A graph has no clock, so it stands for many such *orders*, and a history is to be judged in each. Orders with more in
them demand more of linearizability; so only the largest are looked at, unless axioms refuse one of these.

An operation begins with its first access and returns with its last, as in the schedules of the other strategies. An
order is that of a line of all first and last accesses which respects that what was done comes before what is done
after, and what was written before what is read. That one operation returned before another began is news, which passes
on what the first one knew: where that contradicts the graph, the order is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from latchfree_explore.graphs.steps import Rows, State, rows_of
from latchfree_explore.judging.judge import Judge
from latchfree_explore.weak.axioms import Model
from latchfree_explore.weak.graph import Row
from latchfree_explore.weak.relations import members


class Line(NamedTuple):
    """One order of the operations.

    Attributes
    ----------
    before : tuple of int
        For each operation of the graph, by its number in `Operations.calls`, the mask of those that had returned when
        it began.
    steps : tuple of int
        The first and last accesses, as steps of the graph, in a line that has this order.
    """

    before: tuple[int, ...]
    steps: tuple[int, ...]


class Operations:
    """The operations of a graph, and what is certain of their order.

    Parameters
    ----------
    state : State
    model : {"sc", "tso", "sra", "rc11"}
        The memory.
    judge : Judge
    returned : int
        Mask of the operations that have returned.

    Attributes
    ----------
    calls : list of int
        The operations, by their numbers in the scenario.
    first, last : list of int
        The steps with which each begins and returns; the last is -1 if it has not returned.
    """

    def __init__(self, state: State, model: Model, judge: Judge, returned: int) -> None:
        self.state, self.model, self._judge = state, model, judge
        firsts: dict[int, int] = {}
        lasts: dict[int, int] = {}
        for number, step in enumerate(state.steps):
            firsts.setdefault(step.call, number)
            if step.part not in ("half", "poke"):
                lasts[step.call] = number
        self.calls = sorted(firsts)
        self.first = [firsts[call] for call in self.calls]
        self.last = [lasts[call] if returned >> call & 1 else -1 for call in self.calls]
        self.thread = [state.steps[number].thread for number in self.first]
        self._needs = self._certain()

    def _certain(self) -> dict[int, int]:
        """Return for each first and last access those that come before it in every line."""
        nodes = sum(1 << number for number in {*self.first, *self.last} if number >= 0)
        earlier: dict[int, int] = {}
        last: dict[int, int] = {}
        for number in self.state.in_order():
            thread = self.state.steps[number].thread
            mask = last.get(thread, 0)
            source = self.state.source.get(number, -1)
            if source >= 0:
                mask |= earlier[source] | 1 << source
            earlier[number] = mask
            last[thread] = mask | 1 << number
        needs = {number: earlier[number] & nodes & ~(1 << number) for number in members(nodes)}
        if len({*self.thread}) > 1:
            self._forbid(needs, earlier)
        return needs

    def _forbid(self, needs: dict[int, int], earlier: dict[int, int]) -> None:
        """Let operations begin before others return of which they cannot have had news."""
        rows = rows_of(self.state)
        against = self._judge.opposed(rows.rows, self.model)
        after = [self._rows(rows, thread, first=first) for thread, first in zip(self.thread, self.first, strict=True)]
        until = [self._rows(rows, thread, until=last + 1) for thread, last in zip(self.thread, self.last, strict=True)]
        reached = []
        for mask in after:
            found = 0
            for event in members(mask):
                found |= against[event]
            reached.append(found)
        for j, first in enumerate(self.first):
            for k, last in enumerate(self.last):
                if last >= 0 and self.thread[j] != self.thread[k] and first != last and reached[j] & until[k]:
                    needs[last] |= 1 << first

    def _rows(self, rows: Rows, thread: int, first: int = 0, until: int | None = None) -> int:
        """Return the rows of a thread from a step on, or before one, as a mask."""
        mask = 0
        for number in range(first, len(self.state.steps) if until is None else until):
            if self.state.steps[number].thread == thread and rows.row_of[number] >= 0:
                mask |= 1 << rows.row_of[number]
        return mask

    def lines(self, *, eager: bool = True) -> Iterator[Line]:
        """Yield orders, each once: those in which operations return as soon as they can, or all.

        Each order is contained in one of the eager ones. There is none if no line respects all that is certain.
        """
        seen: set[tuple[int, int, tuple[int, ...]]] = set()
        found: set[tuple[int, ...]] = set()
        start: tuple[int, int, tuple[int, ...], tuple[int, ...]] = (0, 0, (0,) * len(self.calls), ())
        waiting = [start]
        while waiting:
            made, returned, before, steps = waiting.pop()
            if eager:
                made, returned, steps = self._returns(made, returned, steps)
            if (made, returned, before) in seen:
                continue
            seen.add((made, returned, before))
            ended = True
            for k, (first, last) in enumerate(zip(self.first, self.last, strict=True)):
                for number in {first, last}:
                    if number < 0 or made >> number & 1:
                        continue
                    ended = False
                    if self._needs[number] & ~made:
                        continue
                    now, then = returned, before
                    if number == first:
                        then = (*before[:k], returned, *before[k + 1 :])
                    if number == last:
                        now |= 1 << k
                    waiting.append((made | 1 << number, now, then, (*steps, number)))
            if ended and before not in found:
                found.add(before)
                yield Line(before, steps)

    def _returns(self, made: int, returned: int, steps: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        """Let all operations return that can."""
        again = True
        while again:
            again = False
            for k, (first, last) in enumerate(zip(self.first, self.last, strict=True)):
                can = (
                    last not in (-1, first)
                    and made >> first & 1
                    and not made >> last & 1
                    and not self._needs[last] & ~made
                )
                if can:
                    made, returned, steps, again = made | 1 << last, returned | 1 << k, (*steps, last), True
        return made, returned, steps

    def models(self, line: Line) -> tuple[Model, ...]:
        """Return the memory models that allow the graph with the news of an order in it."""
        return self._judge.allowing(self._told(line))

    def _told(self, line: Line) -> list[Row]:
        """Return the rows of the graph with news: what returns writes a word that what begins then reads."""
        rows = rows_of(self.state)
        begins = {number: k for k, number in enumerate(self.first)}
        ends = {self._end(k): k for k, last in enumerate(self.last) if last >= 0}
        found: list[Row] = []
        now: dict[int, int] = {}
        asked: list[tuple[int, int]] = []
        news: dict[int, int] = {}
        for number, step in enumerate(self.state.steps):
            k = begins.get(number, -1)
            for other in members(line.before[k]) if k >= 0 else ():
                if self.thread[other] != step.thread:
                    asked.append((len(found), other))
                    found.append(Row(step.thread, "R", f"operation {other} has returned", "acq"))
            row = rows.row_of[number]
            if row >= 0 and step.part != "half":
                now[row] = len(found)
                found.append(rows.rows[row])
            if number in ends:
                news[ends[number]] = len(found)
                found.append(Row(step.thread, "W", f"operation {ends[number]} has returned", "rel", place=1))
        for at in now.values():
            reads = found[at].reads
            if reads is not None and reads >= 0:
                found[at] = found[at]._replace(reads=now[reads])
        for at, other in asked:
            found[at] = found[at]._replace(reads=news[other])
        return found

    def _end(self, k: int) -> int:
        """Return the very last step of an operation, a half or a poke perhaps."""
        call = self.calls[k]
        return max(number for number, step in enumerate(self.state.steps) if step.call == call)
