"""The search of Wing and Gong with Lowe's memo, in plain Python, for any sequential model.

Depth first: among the operations invoked before the first return still missing, try one as the next to take
effect. Configurations seen are kept, exactly: the state, which operations took effect (all up to `high` but the
`holes`), and which pending ones did.

Three prunings, none of which loses an order:

- of identical pending operations the earliest takes effect first, and a pending operation that changes nothing never
  takes effect;
- of two pending operations in a row the second must need the first, not erase its effect;
- a configuration covers one that is equal but for further pending operations that took effect.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.pieces import MOST_ENDINGS, Blocked, Configuration, Ending, Found
from latchfree_lincheck.engine.resident import resident
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Timeline
from latchfree_model import Call, Model

_SLICE_SECONDS = 0.005
_BYTES_PER_SEEN = 400


@dataclass(frozen=True, slots=True)
class _Node:
    """All operations of the piece below `high` took effect but `holes`; and pending ones as in the bits `used`.

    `before` is the state that the last operation found, if that was a pending one.
    """

    high: int
    holes: tuple[int, ...]
    state: Any
    used: int
    before: tuple[Any, ...] = ()


_PAUSE = -1, _Node(0, (), None, 0)
"""Stands among moves for an occasion to look at the clock."""


class PlainSearch:
    """Searches over the calls of a timeline.

    Parameters
    ----------
    model : Model
        The sequential model.
    timeline : Timeline
        When the operations ran.
    calls : sequence of Call
        What they did, by the timeline's numbers; pending ones last, with result UNKNOWN.
    memory : int
        Give up when the configurations seen take about so many bytes, or the process has grown by so many.
    deadline : Deadline, optional
        Give up when its budget is used up; its time the caller looks at between slices.
    """

    def __init__(
        self,
        model: Model[Any],
        timeline: Timeline,
        calls: Sequence[Call],
        memory: int,
        deadline: Deadline | None = None,
    ) -> None:
        self.timeline = timeline
        self._deadline = deadline or Deadline(None)
        self._model = model
        self._calls = calls
        self._invoke = [*timeline.invoke.tolist(), *timeline.pending.tolist()]
        self._return = timeline.return_.tolist()
        self._completed = len(self._return)
        self._memory = memory
        self._before = resident()
        self._slice_ends = 0.0
        self._twin = self._earlier_twins()
        self._seen: dict[Hashable, list[int]] = {}
        self._remembered = 0
        self._blocked: tuple[int, int, int, tuple[int, ...]] = (-1, -1, 0, ())

    def _earlier_twins(self) -> list[int | None]:
        """For each pending operation, the latest identical one before it."""
        latest: dict[Hashable, int] = {}
        twins = []
        for number in range(self._completed, len(self._calls)):
            call = self._calls[number]
            twins.append(latest.get((call.f, call.arguments)))
            latest[call.f, call.arguments] = number - self._completed
        return twins

    def initial(self) -> Configuration:
        """Return the model's initial state, with no pending operation used."""
        return Configuration(self._model.init())

    def search(
        self, low: int, high: int, starts: Sequence[Configuration], *, every: bool, budget: int | None
    ) -> Generator[None, None, Found]:
        """See `latchfree_lincheck.engine.pieces.PieceSearch`."""
        self._seen = {}
        self._remembered = 0
        self._blocked = (-1, -1, 0, ())
        endings: dict[tuple[Hashable, int], Ending] = {}
        steps = 0
        for parent, start in enumerate(starts):
            root = _Node(low, (), start.state, sum(1 << number for number in start.used))
            path: list[int] = []
            stack = [self._moves(root, high, path, parent)]
            while stack:
                move = next(stack[-1], None)
                if move is _PAUSE:
                    if self._too_large():
                        return Found(gave_up="memory")
                    yield
                    self._slice_ends = time.monotonic() + _SLICE_SECONDS
                    continue
                steps += 1
                self._deadline.spend(1)
                if self._deadline.spent() or (budget is not None and steps > budget):
                    return Found(gave_up="budget")
                if move is None:
                    stack.pop()
                    if path:
                        path.pop()
                    continue
                number, node = move
                path.append(number)
                if node.high < high or node.holes:
                    stack.append(self._moves(node, high, path, parent))
                    continue
                used = frozenset(twin for twin in range(len(self._twin)) if node.used >> twin & 1)
                ending = Ending(Configuration(node.state, used), parent, tuple(path))
                if not every:
                    return Found([ending])
                endings.setdefault((node.state, node.used), ending)
                if len(endings) > MOST_ENDINGS:
                    return Found(gave_up="budget")
                path.pop()
        if endings:
            return Found(list(endings.values()))
        limit, _, parent, order = self._blocked
        return Found(blocked=Blocked(self._return.index(limit), parent, order))

    def _too_large(self) -> bool:
        """Return whether the search takes more memory than it may."""
        return self._remembered * _BYTES_PER_SEEN > self._memory or resident() - self._before > self._memory

    def _moves(self, node: _Node, high: int, path: list[int], parent: int) -> Iterator[tuple[int, _Node]]:
        """Yield the operations that may take effect next and where they lead, if that was not seen before.

        When none is left the node is a dead end, at the first return still missing. Between two calls of the model,
        which may be slow, `_PAUSE` is yielded when the slice is over.
        """
        limit = NEVER_RETURNS
        for number in itertools.chain(node.holes, range(node.high, high)):
            if self._invoke[number] > limit:
                break
            limit = min(limit, self._return[number])
            if time.monotonic() >= self._slice_ends:
                yield _PAUSE
            legal, state = self._model.step(node.state, self._calls[number])
            if legal:
                yield from self._fresh(number, self._take(node, number, state))
        for pending, twin in enumerate(self._twin):
            number = self._completed + pending
            if self._invoke[number] > limit:
                break
            if node.used >> pending & 1 or (twin is not None and not node.used >> twin & 1):
                continue
            if time.monotonic() >= self._slice_ends:
                yield _PAUSE
            _, state = self._model.step(node.state, self._calls[number])
            erases = any(self._model.step(before, self._calls[number])[1] == state for before in node.before)
            if state != node.state and not erases:
                used = node.used | 1 << pending
                yield from self._fresh(number, _Node(node.high, node.holes, state, used, (node.state,)))
        if (limit, len(path)) > self._blocked[:2]:
            self._blocked = (limit, len(path), parent, tuple(path))

    @staticmethod
    def _take(node: _Node, number: int, state: Any) -> _Node:
        """Return the node after an operation that returned took effect."""
        if number < node.high:
            return _Node(node.high, tuple(hole for hole in node.holes if hole != number), state, node.used)
        return _Node(number + 1, (*node.holes, *range(node.high, number)), state, node.used)

    @staticmethod
    def _key(node: _Node) -> Hashable:
        """Return what two nodes must share for one to stand for the other."""
        return node.state, node.high, node.holes

    def _fresh(self, number: int, node: _Node) -> Iterator[tuple[int, _Node]]:
        """Yield the move unless its node, or one that used fewer pending operations, was seen; remember it."""
        seen = self._seen.setdefault(self._key(node), [])
        if not any(used & ~node.used == 0 for used in seen):
            seen.append(node.used)
            self._remembered += 1
            yield number, node
