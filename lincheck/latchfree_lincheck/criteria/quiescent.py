"""Quiescent consistency: some order of all operations is legal and keeps the order across quiet moments.

An object is quiescent when no operation on it is running. Operations with such a moment between them take effect in
that order; operations of one busy period in any order, not even that of their process. A pending operation never
ends, so after it is invoked the object is never quiescent again.

The property is local: each object is judged by itself. Within an object, calls with different partitions do not see
each other, so an order exists if and only if one exists for each part that keeps the *object's* busy periods: the
parts are searched one by one. Within a busy period all orders are allowed, so equal calls are interchangeable and a
configuration is how many of each are left, and the state; a legal call without effect is taken at once, as in
`sequential`. From one period to the next, all states that it can end in are carried on.

Source: Aspnes, Herlihy, Shavit, "Counting Networks", 1994; Herlihy and Shavit, "The Art of Multiprocessor
Programming", section 3.3; Derrick et al., "Quiescent Consistency: Defining and Verifying Relaxed Linearizability",
2014.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.criteria.trial import GaveUp, Trial
from latchfree_lincheck.engine.bounds import MEMORY
from latchfree_lincheck.history import History
from latchfree_model import Call, Model

Link = tuple[Any, int] | None
"""An order of operations: all but the last, and the last."""

Counts = tuple[int, ...]


def quiescently_consistent(
    history: History, model: Model[Any], *, timeout: float | None = None, memory: int = MEMORY
) -> Verdict:
    """Judge whether a history is quiescently consistent.

    Parameters
    ----------
    history : History
        What happened.
    model : Model
        The sequential model of each object.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Bytes of search tables, about, after which the verdict is "unknown".

    Raises
    ------
    ValueError
        If the history has a call that the model does not have.
    """
    trial = Trial("quiescent consistency", history, model, timeout, memory)
    periods = _busy_periods(trial)
    witness: list[int] = []
    try:
        for part in _parts(trial, periods):
            ends: dict[Hashable, Link] = {model.init(): None}
            for number, indices in enumerate(part):
                search = _Period(trial, indices)
                ends = search.run(ends, every=number + 1 < len(part))
                if not ends:
                    return trial.dead_end(*search.dead_end())
            witness += _unlink(next(iter(ends.values())))
    except GaveUp as reason:
        return trial.unknown(str(reason))
    return trial.ok("quiescently consistent", sorted(witness, key=lambda index: periods[index]))


def _busy_periods(trial: Trial) -> list[int]:
    """Return the number of the busy period of each operation; numbers grow with time on each object."""
    operations = trial.operations
    numbers = [0] * len(operations)
    busy: dict[str | None, tuple[float, int]] = {}
    for index in sorted(range(len(operations)), key=lambda index: operations[index].invoke):
        name, invoke, returned = operations[index].object, operations[index].invoke, operations[index].return_
        until, number = busy.get(name, (-math.inf, invoke))
        if until < invoke:
            number = invoke
        busy[name] = max(until, math.inf if returned is None else returned), number
        numbers[index] = number
    return numbers


def _parts(trial: Trial, periods: Sequence[int]) -> list[list[list[int]]]:
    """Return the operations by independent part and, within one, by busy period."""
    places = [
        (operation.object, trial.model.partition(call))
        for operation, call in zip(trial.operations, trial.calls, strict=True)
    ]
    whole = {name for name, place in places if place is None}
    parts: dict[Hashable, dict[int, list[int]]] = {}
    for index in sorted(range(len(periods)), key=lambda index: periods[index]):
        name, place = places[index]
        part = parts.setdefault((name, None if name in whole else place), {})
        part.setdefault(periods[index], []).append(index)
    return [list(part.values()) for part in parts.values()]


class _Period:
    """The search of one busy period of one part."""

    def __init__(self, trial: Trial, indices: Sequence[int]) -> None:
        self._trial = trial
        kinds: dict[Hashable, list[int]] = {}
        for index in indices:
            kinds.setdefault(_kind(trial.calls[index], index, pending=self._pending(trial, index)), []).append(index)
        self._kinds = list(kinds.values())
        self._must = [not self._pending(trial, kind[0]) for kind in self._kinds]
        self._longest: tuple[int, Link, Counts] = (-1, None, ())

    @staticmethod
    def _pending(trial: Trial, index: int) -> bool:
        return trial.operations[index].return_ is None

    def run(self, starts: dict[Hashable, Link], *, every: bool) -> dict[Hashable, Link]:
        """Return the states that the period can end in, each with an order that leads there; if not `every`, one."""
        ends: dict[Hashable, Link] = {}
        seen: set[tuple[Counts, Hashable]] = set()
        full = tuple(len(kind) for kind in self._kinds)
        stack = [(full, state, order) for state, order in starts.items()]
        while stack:
            self._trial.tick()
            counts, state, order = self._settle(*stack.pop())
            if (counts, state) in seen:
                continue
            seen.add((counts, state))
            self._trial.keep()
            taken = sum(full) - sum(counts)
            if taken > self._longest[0]:
                self._longest = taken, order, counts
            if not any(count and must for count, must in zip(counts, self._must, strict=True)):
                ends.setdefault(state, order)
                if not every:
                    break
                continue
            for number in range(len(counts) - 1, -1, -1):
                if counts[number]:
                    legal, after = self._trial.model.step(state, self._call(number))
                    if legal and (self._must[number] or after != state):
                        left = (*counts[:number], counts[number] - 1, *counts[number + 1 :])
                        stack.append((left, after, (order, self._next(number, counts))))
        return ends

    def dead_end(self) -> tuple[int, list[int]]:
        """Return, of the operations that the longest order leaves out, the first to return; and that order."""
        _, order, counts = self._longest
        left = [self._next(number, counts) for number, count in enumerate(counts) if count and self._must[number]]
        return min(left, key=lambda index: self._trial.operations[index].return_ or 0), _unlink(order)

    def _settle(self, counts: Counts, state: Hashable, order: Link) -> tuple[Counts, Hashable, Link]:
        """Take all legal calls that change no state."""
        left = list(counts)
        for number, count in enumerate(counts):
            if count and self._must[number] and self._trial.effectless[self._kinds[number][0]]:
                legal, _ = self._trial.model.step(state, self._call(number))
                if legal:
                    left[number] = 0
                    for index in self._kinds[number][-count:]:
                        order = order, index
        return tuple(left), state, order

    def _call(self, number: int) -> Call:
        return self._trial.calls[self._kinds[number][0]]

    def _next(self, number: int, counts: Counts) -> int:
        return self._kinds[number][-counts[number]]


def _kind(call: Call, index: int, *, pending: bool) -> Hashable:
    """Return what two operations share if they are interchangeable."""
    try:
        hash(call)
    except TypeError:
        return index
    return call, pending


def _unlink(order: Link) -> list[int]:
    found = []
    while order is not None:
        order, last = order
        found.append(last)
    return found[::-1]
