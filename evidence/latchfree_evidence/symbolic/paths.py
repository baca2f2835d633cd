"""Run a function down each of its paths.

Example: ``1 if word == 0 else 2`` has two paths. The function runs twice, once under the condition that the word is 0
and once under the condition that it is not.

For each path the function runs again from the start; a list of decisions says which way to go at each condition. A way
that the assumptions exclude is not taken. So every case that the assumptions allow belongs to exactly one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import z3

from latchfree_evidence.symbolic.words import Truth
from latchfree_support.solving import ask

T = TypeVar("T")


def each_path(run: Callable[[], T], solver: Any) -> Iterator[T]:
    """Yield what `run` returns on each path, with the conditions of the path asserted in the solver meanwhile.

    Parameters
    ----------
    run : callable
        May ask for the value of unknown truths.
    solver : z3.Solver
        Holds the assumptions.
    """
    waiting: list[list[bool]] = [[]]
    while waiting:
        taken = waiting.pop()
        given = len(taken)
        conditions: list[Any] = []

        def decide(
            term: Any, taken: list[bool] = taken, given: int = given, conditions: list[Any] = conditions
        ) -> bool:
            place = len(conditions)
            if place < given:
                way = taken[place]
            else:
                way = _possible(solver, conditions, term)
                if way and _possible(solver, conditions, z3.Not(term)):
                    waiting.append([*taken, False])
                taken.append(way)
            conditions.append(term if way else z3.Not(term))
            return way

        before, Truth.decide = Truth.decide, decide
        try:
            result = run()
        finally:
            Truth.decide = before
        solver.push()
        solver.add(*conditions)
        yield result
        solver.pop()


def _possible(solver: Any, conditions: list[Any], term: Any) -> bool:
    solver.push()
    solver.add(*conditions, term)
    answer = ask(solver.ctx, solver.check)
    solver.pop()
    return bool(answer != z3.unsat)
