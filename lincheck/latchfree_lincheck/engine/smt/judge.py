"""An independent judge for small histories: Z3 looks for an order.

The model is unrolled first: every state that the calls of the history can reach, each taken at most once, is
enumerated, so any sequential model will do as long as the history is small. Then `Orders` says as clauses what an order
is: an operation that returned before another was invoked stands before it; one that returned takes effect, a pending
one may. A violation is placed by asking the same solver about prefixes, by bisection: if a history has an order, so has
every prefix.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
import z3

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.outcome import Outcome, Slices
from latchfree_lincheck.engine.resident import resident
from latchfree_lincheck.engine.smt.orders import Orders
from latchfree_lincheck.history.timeline import Timeline
from latchfree_model import Call, Model

MOST_OPERATIONS: Final = 40
MOST_STATES: Final = 20_000
_LOOK_AT_CLOCK: Final = 64


#: Z3's contexts are for one thread at a time.
_contexts = threading.local()


def _context() -> z3.Context:
    """Return the calling thread's own context."""
    if not hasattr(_contexts, "own"):
        _contexts.own = z3.Context()
    return _contexts.own


class _TooLarge(Exception):
    """The history is too large for this engine."""


class _Late(Exception):
    """The deadline passed, or the process grew too much: the name says which."""


def solve(model: Model[Any], timeline: Timeline, calls: Sequence[Call], memory: int, deadline: Deadline) -> Slices:
    """Judge the calls of a timeline; pending ones come last. The only slice is the last."""
    try:
        return _Judge(model, timeline, calls, memory, deadline).run()
    except _TooLarge:
        return Outcome(gave_up="large")
    except _Late as reason:
        return Outcome(gave_up="memory" if str(reason) == "memory" else "timeout")
    yield  # type: ignore[unreachable]  # makes it a generator, as every search is


class _Judge:
    def __init__(
        self, model: Model[Any], timeline: Timeline, calls: Sequence[Call], memory: int, deadline: Deadline
    ) -> None:
        self._model = model
        self._timeline = timeline
        self._calls = calls
        self._memory = memory
        self._before = resident()
        self._deadline = deadline
        self._invoke = [*timeline.invoke.tolist(), *timeline.pending.tolist()]
        self._return = timeline.return_.tolist()

    def run(self) -> Outcome:
        """Decide, and of a violation find the first return that has no order."""
        if len(self._calls) > MOST_OPERATIONS:
            raise _TooLarge
        if not self._calls:
            return Outcome()
        numbers = range(len(self._calls))
        precedes = [(i, j) for i in range(len(self._return)) for j in numbers if self._return[i] < self._invoke[j]]
        orders = Orders(self._unroll(precedes), [[i] for i in numbers], precedes, (), _context(), self._check_time)
        whole = self._order(orders, 1 << 62)
        if whole is not None:
            return Outcome(self._timeline.index[np.array(whole, np.int64)])
        ends = sorted(self._return)
        good, bad, best = -1, len(ends) - 1, list[int]()
        while bad - good > 1:
            middle = (good + bad) // 2
            order = self._order(orders, ends[middle])
            if order is None:
                bad = middle
            else:
                good, best = middle, order
        blocked = self._return.index(ends[bad])
        return Outcome(self._timeline.index[np.array(best, np.int64)], blocked=int(self._timeline.index[blocked]))

    def _order(self, orders: Orders, until: int) -> list[int] | None:
        """Return an order of what returned up to `until`, with others in flight as needed; None if there is none."""
        assumed = [
            orders.effect[number]
            if number < len(self._return) and self._return[number] <= until
            else -orders.effect[number]
            for number in range(len(self._calls))
            if self._invoke[number] >= until or (number < len(self._return) and self._return[number] <= until)
        ]
        answer = self._ask(orders, assumed)
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            raise _Late("memory" if "memout" in orders.solver.reason_unknown() else "timeout")
        return orders.order()

    def _ask(self, orders: Orders, assumed: Sequence[int]) -> Any:
        """Solve within the deadline: Z3's own is not kept in all its phases, so it is interrupted from outside."""
        self._check_time()
        left = self._deadline.left()
        if left is None:
            return orders.ask(assumed)
        orders.solver.set("timeout", max(1, int(1000 * left)))
        timer = threading.Timer(left, orders.solver.ctx.interrupt)
        timer.start()
        try:
            return orders.ask(assumed)
        finally:
            timer.cancel()

    def _check_time(self) -> None:
        if self._deadline.passed():
            raise _Late("timeout")
        if resident() - self._before > self._memory:
            raise _Late("memory")

    def _unroll(self, precedes: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Return, for each operation, the number of the state after each state, or -1 where it is illegal."""
        states = self._states(precedes)
        steps = []
        for call in self._calls:
            self._check_time()
            found = [self._model.step(state, call) for state in states]
            steps.append([states.get(after, -1) if legal else -1 for legal, after in found])
        return steps

    def _states(self, precedes: Sequence[tuple[int, int]]) -> dict[Hashable, int]:
        """Give numbers to the states that the operations can reach, each taken once, after those that precede it."""
        before = [0] * len(self._calls)
        for i, j in precedes:
            before[j] |= 1 << i
        numbers: dict[Hashable, int] = {self._model.init(): 0}
        seen = {(0, self._model.init())}
        waiting = list(seen)
        while waiting:
            if len(seen) % _LOOK_AT_CLOCK == 0:
                self._check_time()
            done, state = waiting.pop()
            for number, call in enumerate(self._calls):
                if done >> number & 1 or before[number] & ~done:
                    continue
                legal, after = self._model.step(state, call)
                pair = done | 1 << number, after
                if legal and pair not in seen:
                    if len(seen) >= MOST_STATES:
                        raise _TooLarge
                    seen.add(pair)
                    waiting.append(pair)
                    numbers.setdefault(after, len(numbers))
        return numbers
