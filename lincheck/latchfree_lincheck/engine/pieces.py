"""A search piece by piece: the walk from quiescent point to quiescent point.

A *configuration* is what a history may have done to the object so far: the state, and which pending operations
took effect. Between two quiescent points nothing else is left over, so a history is searched piece by piece:
each piece but the last yields every configuration it can end in, and the next starts from all of them. That is
exact, and keeps only one piece in memory. A piece with too many ways to end is searched depth first together
with all that follows instead.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from latchfree_lincheck.engine.bounds import GaveUp
from latchfree_lincheck.engine.outcome import Origin, Outcome, Slices
from latchfree_lincheck.history.timeline import Ints, Timeline

PIECE = 2048
"""Operations in a piece, at least."""

MOST_ENDINGS = 256
"""Ways to end a piece that are carried on one by one."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A state of the object (in the engine's terms) and the numbers of the pending operations that took effect."""

    state: Any
    used: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Ending:
    """A way through a piece: where it started, the order it took (numbers of a timeline), where it ends."""

    configuration: Configuration
    parent: int
    order: Sequence[int] | Ints


@dataclass(frozen=True, slots=True)
class Blocked:
    """The latest return that no order passes, and the longest order that reaches it."""

    operation: int
    parent: int
    order: Sequence[int] | Ints


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of one search: endings if there are any, else where it is blocked, else why it gave up."""

    endings: Sequence[Ending] = ()
    blocked: Blocked | None = None
    gave_up: GaveUp = ""


class PieceSearch(Protocol):
    """A search for linearizations over the operations of one timeline, piece by piece."""

    timeline: Timeline

    def initial(self) -> Configuration:
        """Return where the history starts."""
        ...

    def search(
        self, low: int, high: int, starts: Sequence[Configuration], *, every: bool, budget: int | None
    ) -> Generator[None, None, Found]:
        """Order the operations low .. high-1, with pending ones as needed; yield now and then.

        Parameters
        ----------
        low, high : int
            The operations: from `low` up to, but not including, `high`.
        starts : sequence of Configuration
            Where the search may begin.
        every : bool
            Whether to find every configuration they can end in, up to `MOST_ENDINGS`, or just one.
        budget : int or None
            Give up after about so many steps.
        """
        ...


def linearize(search: PieceSearch, piece: int = PIECE) -> Slices:
    """Search a timeline piece by piece.

    Parameters
    ----------
    search : PieceSearch
        The search.
    piece : int
        The least number of operations in a piece.
    """
    timeline = search.timeline
    cuts = timeline.cuts(piece)
    starts = [search.initial()]
    trail: list[Sequence[Ending]] = []
    origin, before = (0, starts[0]), 0
    for begin, end in pairwise(cuts):
        if len(starts) == 1:
            origin, before = (begin, starts[0]), len(trail)
        last = end == cuts[-1]
        budget = None if last else 100_000 + 200 * (end - begin)
        found = yield from search.search(begin, end, starts, every=not last, budget=budget)
        if found.gave_up == "budget":
            last = True
            found = yield from search.search(begin, cuts[-1], starts, every=False, budget=None)
        if found.gave_up:
            return Outcome(gave_up=found.gave_up)
        if found.blocked is not None:
            orders = [*_trace(trail, found.blocked.parent), found.blocked.order]
            ordered = sum(map(len, orders[:before]))
            return Outcome(
                timeline.index[_join(orders)],
                blocked=int(timeline.index[found.blocked.operation]),
                origin=_origin(timeline, *origin, ordered),
            )
        trail.append(found.endings)
        starts = [ending.configuration for ending in found.endings]
        if last:
            break
    return Outcome(timeline.index[_join(_trace(trail, 0))])


def _origin(timeline: Timeline, low: int, configuration: Configuration, ordered: int) -> Origin:
    n = len(timeline.invoke)
    unused = [n + number for number in range(len(timeline.pending)) if number not in configuration.used]
    return Origin(configuration.state, timeline.index[np.array([*range(low, n), *unused], np.int64)], ordered)


def _trace(trail: Sequence[Sequence[Ending]], parent: int) -> list[Sequence[int] | Ints]:
    """Return the orders that led to ending number `parent` of the last piece in `trail`."""
    orders = []
    for endings in reversed(trail):
        orders.append(endings[parent].order)
        parent = endings[parent].parent
    return orders[::-1]


def _join(orders: Sequence[Sequence[int] | Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *(np.asarray(order, np.int64) for order in orders)])
