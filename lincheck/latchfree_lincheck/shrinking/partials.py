"""The longest partial linearizations of a violating history: how far each attempt to explain it comes.

All orders of a small history are walked, depth first, with a memo on (operations done, state). Where an order cannot
go on, every operation that could come next by real time is illegal by the model. Those dead ends that explain the
most completed operations are returned, each with what the model says about every operation that it is stuck at.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.history import History
from latchfree_model import Model

MOST_CONFIGURATIONS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Partial:
    """An order that explains some operations, and why it cannot go on.

    Parameters
    ----------
    order : tuple of int
        Indices of operations.
    stuck : tuple of (int, str)
        Each operation that had to be possible next, and what the model says about it.
    """

    order: tuple[int, ...]
    stuck: tuple[tuple[int, str], ...]


def longest_partials(
    history: History, model: Model[Any], *, most: int = 3, timeout: float | None = None
) -> list[Partial]:
    """Return the longest orders that explain part of a small history on one object, longest first.

    Parameters
    ----------
    history : History
        A violation, of a few dozen operations at most.
    model : Model
        The sequential model.
    most : int
        How many to return; no two explain the same operations and end in the same state.
    timeout : float, optional
        Seconds after which the longest found so far are returned; so they are after `MOST_CONFIGURATIONS`.
    """
    walk = _Walk(history, model)
    deadline = Deadline(timeout)
    for _ in walk.dead_ends():
        if deadline.passed() or len(walk.seen) > MOST_CONFIGURATIONS:
            break
    found = sorted(walk.found, key=lambda end: -end[0])[:most]
    longest = [end for end in found if end[0] == found[0][0]] or found
    return [Partial(order, walk.stuck(done, state)) for _, order, done, state in longest]


class _Walk:
    def __init__(self, history: History, model: Model[Any]) -> None:
        self._operations = history.operations
        self._calls = [operation.call for operation in history.operations]
        self._model = model
        self._completed = frozenset(at for at, each in enumerate(self._operations) if each.return_ is not None)
        self.seen: set[tuple[frozenset[int], Hashable]] = set()
        self.found: list[tuple[int, tuple[int, ...], frozenset[int], Hashable]] = []

    def dead_ends(self) -> Iterator[None]:
        """Walk; yield at every configuration, so that the caller may stop."""
        stack: list[tuple[frozenset[int], Any, tuple[int, ...]]] = [(frozenset(), self._model.init(), ())]
        while stack:
            done, state, order = stack.pop()
            if (done, state) in self.seen:
                continue
            self.seen.add((done, state))
            yield
            following = []
            for at in self._possible(done):
                legal, after = self._model.step(state, self._calls[at])
                if legal and (at in self._completed or after != state):
                    following.append((done | {at}, after, (*order, at)))
            stack += reversed(following)
            if not any(at in self._completed for (*_, (*_, at)) in following):
                self.found.append((len(done & self._completed), order, done, state))

    def stuck(self, done: frozenset[int], state: Hashable) -> tuple[tuple[int, str], ...]:
        """Return the completed operations that could come next, and why they cannot."""
        return tuple(
            (at, self._model.describe(state, self._calls[at]))
            for at in self._possible(done)
            if at in self._completed and not self._model.step(state, self._calls[at])[0]
        )

    def _possible(self, done: frozenset[int]) -> list[int]:
        """Return what may come next by real time."""
        left = [(at, each) for at, each in enumerate(self._operations) if at not in done]
        first = min((each.return_ for _, each in left if each.return_ is not None), default=None)
        return [at for at, each in left if first is None or each.invoke <= first]
