"""An independent judge for small histories: Z3 looks for an order.

The model is unrolled first: every state that the calls of the history can reach, each taken at most once, is
enumerated, so any sequential model will do as long as the history is small. Then each operation gets a position; the
state after each position follows from the one before by the operation there; an operation that returned before another
was invoked has the lower position. A pending operation may also leave the state as it is. There is an order if and
only if the formula has a solution. A violation is placed by asking the same of prefixes, by bisection: if a history
has an order, so has every prefix.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
import z3

from latchfree_lincheck.engine.memory import resident
from latchfree_lincheck.engine.search import Deadline, Outcome, Slices
from latchfree_lincheck.engine.timeline import Timeline
from latchfree_model import Call, Model

MOST_OPERATIONS: Final = 40
MOST_STATES: Final = 20_000
_LOOK_AT_CLOCK: Final = 64


#: Z3's contexts are for one thread at a time.
_contexts = threading.local()


def _context() -> z3.Context:
    """The calling thread's own context."""
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
        whole = self._order(1 << 62)
        if whole is not None:
            return Outcome(self._timeline.index[np.array(whole, np.int64)])
        ends = sorted(self._return)
        good, bad, best = -1, len(ends) - 1, list[int]()
        while bad - good > 1:
            middle = (good + bad) // 2
            order = self._order(ends[middle])
            if order is None:
                bad = middle
            else:
                good, best = middle, order
        if good >= 0:
            best = self._order(ends[good]) or best
        blocked = self._return.index(ends[bad])
        return Outcome(self._timeline.index[np.array(best, np.int64)], blocked=int(self._timeline.index[blocked]))

    def _order(self, until: int) -> list[int] | None:
        """Return an order of what returned up to `until`, with others in flight as needed; None if there is none."""
        chosen = [number for number in range(len(self._calls)) if self._invoke[number] < until]
        done = {number for number in chosen if number < len(self._return) and self._return[number] <= until}
        context = _context()
        solver = z3.Solver(ctx=context)
        n = len(chosen)
        steps = self._unroll(chosen)
        position = [z3.Int(f"p{number}", context) for number in chosen]
        state = [z3.Int(f"s{at}", context) for at in range(n + 1)]
        takes = [z3.Bool(f"t{number}", context) for number in chosen]
        solver.add(state[0] == 0)
        if n > 1:
            solver.add(z3.Distinct(position))
        for i, number in enumerate(chosen):
            self._check_time()
            solver.add(position[i] >= 0, position[i] < n)
            if number in done:
                solver.add(takes[i])
            for j, other in enumerate(chosen):
                if other in done and self._return[other] < self._invoke[number]:
                    solver.add(position[j] < position[i])
            for at in range(n):
                moves = [z3.And(state[at] == a, state[at + 1] == b) for a, b in steps[number]]
                stays = z3.And(z3.Not(takes[i]), state[at + 1] == state[at])
                solver.add(z3.Implies(position[i] == at, z3.Or(stays, z3.And(takes[i], z3.Or(*moves, context)))))
        answer = self._check(solver)
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            raise _Late("memory" if "memout" in solver.reason_unknown() else "timeout")
        found = solver.model()
        taken = [i for i in range(n) if z3.is_true(found.eval(takes[i], model_completion=True))]
        return [chosen[i] for i in sorted(taken, key=lambda i: found.eval(position[i]).as_long())]

    def _check(self, solver: z3.Solver) -> Any:
        """Solve within the deadline: Z3's own is not kept in all its phases, so it is interrupted from outside."""
        self._check_time()
        left = self._deadline.left()
        if left is None:
            return solver.check()
        solver.set("timeout", max(1, int(1000 * left)))
        timer = threading.Timer(left, solver.ctx.interrupt)
        timer.start()
        try:
            return solver.check()
        finally:
            timer.cancel()

    def _check_time(self) -> None:
        if self._deadline.passed():
            raise _Late("timeout")
        if resident() - self._before > self._memory:
            raise _Late("memory")

    def _unroll(self, chosen: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """Return, for each operation, the pairs of numbers of states between which it is legal."""
        states = self._states(chosen)
        steps: dict[int, list[tuple[int, int]]] = {number: [] for number in chosen}
        for state, at in states.items():
            for number in chosen:
                legal, after = self._model.step(state, self._calls[number])
                if legal and after in states:
                    steps[number].append((at, states[after]))
        return steps

    def _states(self, chosen: Sequence[int]) -> dict[Hashable, int]:
        """Number the states that the operations can reach, each taken once, and after those that precede it."""
        bits = {number: 1 << place for place, number in enumerate(chosen)}
        before = {
            number: sum(
                bits[other]
                for other in chosen
                if other < len(self._return) and self._return[other] < self._invoke[number]
            )
            for number in chosen
        }
        numbers: dict[Hashable, int] = {self._model.init(): 0}
        seen = {(0, self._model.init())}
        waiting = list(seen)
        while waiting:
            if len(seen) % _LOOK_AT_CLOCK == 0:
                self._check_time()
            done, state = waiting.pop()
            for number in chosen:
                if done & bits[number] or before[number] & ~done:
                    continue
                legal, after = self._model.step(state, self._calls[number])
                pair = done | bits[number], after
                if legal and pair not in seen:
                    if len(seen) >= MOST_STATES:
                        raise _TooLarge
                    seen.add(pair)
                    waiting.append(pair)
                    numbers.setdefault(after, len(numbers))
        return numbers
