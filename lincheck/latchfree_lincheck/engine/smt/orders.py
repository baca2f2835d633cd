"""Orders of a few operations as the solutions of clauses.

Each of n operations stands at one of n positions; the state after a position follows from the one before by the call of
the operation that stands there, if it takes effect. The variables are

- ``i stands before p``, from which follow ``i stands at p`` and ``i precedes j``;
- ``i takes effect``, ``i makes call c``, ``call c at p`` or ``none at p``, ``state s before p``.

A state is implied by what leads to it, and a call that is illegal in a state excludes it; so states that nothing leads
to need not be false, and there is a solution if and only if there is an order.

What a history fixes (which operations take effect, who makes which call, who precedes whom) is asked as assumptions, so
that one solver judges prefixes of one history, or thousands of histories of one shape. Clauses are handed to Z3 as
DIMACS text, which it reads a hundred times faster than terms built from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, product
from typing import Any, Final

import z3

from latchfree_support.solving import ask, leave_ctrl_c

_AT_ONCE: Final = 20_000
"""Clauses handed over at once."""


class _Terms(dict[int, Any]):
    """Variables as Z3 knows them, and their negations by negative numbers."""

    def __init__(self, context: z3.Context) -> None:
        self._context = context

    def __missing__(self, number: int) -> Any:
        if number < 0:
            term = z3.Not(self[-number])
        else:
            context = self._context.ref()
            constant = z3.Z3_mk_const(context, z3.Z3_mk_int_symbol(context, number), z3.BoolSort(self._context).ast)
            term = z3.BoolRef(constant, self._context)
        self[number] = term
        return term


class Orders:
    """A solver for the orders of n operations.

    Parameters
    ----------
    steps : sequence of sequence of int
        ``steps[call][state]`` is the next state, or -1 where the call is illegal. State 0 is the first.
    choices : sequence of sequence of int
        The calls that each operation may make.
    precedes : iterable of pair of int
        Operations of which the first stands before the second.
    may_precede : iterable of pair of int
        Operations of which it may be asked that the first stands before the second.
    context : z3.Context
        Where to put the clauses.
    look : callable
        Called now and then while clauses are made; may raise.

    Attributes
    ----------
    effect : list of int
        For each operation the variable that it takes effect.
    makes : list of dict of int
        For each operation that has a choice the variables of its calls.
    before : dict of int
        The variables of pairs that may precede each other.
    """

    def __init__(
        self,
        steps: Sequence[Sequence[int]],
        choices: Sequence[Sequence[int]],
        precedes: Iterable[tuple[int, int]],
        may_precede: Iterable[tuple[int, int]],
        context: z3.Context,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._fresh = count(1)
        self._clauses: list[tuple[int, ...]] = []
        self._look = look
        self._context = context
        self.solver = leave_ctrl_c(z3.SimpleSolver(ctx=context))
        places = range(len(choices))
        self.effect = [next(self._fresh) for _ in choices]
        self.makes: list[dict[int, int]] = [
            {call: next(self._fresh) for call in calls} if len(calls) > 1 else {} for calls in choices
        ]
        self.before: Mapping[tuple[int, int], int] = {pair: next(self._fresh) for pair in may_precede}
        self._early = [[next(self._fresh) for _ in range(len(choices) + 1)] for _ in choices]
        self._at = [[next(self._fresh) for _ in places] for _ in choices]
        self._stand_somewhere()
        for first, second in precedes:
            self._stand_in_order(first, second, ())
        for (first, second), switch in self.before.items():
            self._stand_in_order(first, second, (-switch,))
        self._take_effect(steps, choices)
        self._hand_over()
        self._terms = _Terms(context)

    def _stand_somewhere(self) -> None:
        """Every operation stands at one position, and no two at the same."""
        add = self._clauses.append
        for i, (early, at) in enumerate(zip(self._early, self._at, strict=True)):
            add((-early[0],))
            add((early[-1],))
            for p in range(len(at)):
                add((-early[p], early[p + 1]))
                add((-at[p], early[p + 1]))
                add((-at[p], -early[p]))
                add((at[p], early[p], -early[p + 1]))
                for other in self._at[:i]:
                    add((-at[p], -other[p]))

    def _stand_in_order(self, first: int, second: int, unless: tuple[int, ...]) -> None:
        for p in range(len(self._at)):
            self._clauses.append((*unless, -self._early[second][p + 1], self._early[first][p]))

    def _take_effect(self, steps: Sequence[Sequence[int]], choices: Sequence[Sequence[int]]) -> None:
        """Add clauses: calls follow from who stands where, and states from calls."""
        places, states = range(len(choices)), range(len(steps[0]) if steps else 1)
        called = [[next(self._fresh) for _ in steps] for _ in places]
        idle = [next(self._fresh) for _ in places]
        state = [[next(self._fresh) for _ in states] for _ in range(len(choices) + 1)]
        add = self._clauses.append
        add((state[0][0],))
        for (i, calls), p in product(enumerate(choices), places):
            add((-self._at[i][p], self.effect[i], idle[p]))
            for call in calls:
                unless = (-self.makes[i][call],) if self.makes[i] else ()
                add((-self._at[i][p], -self.effect[i], *unless, called[p][call]))
        for p in places:
            for s in states:
                add((-idle[p], -state[p][s], state[p + 1][s]))
            for call, after in enumerate(steps):
                for s in states:
                    follows = (state[p + 1][after[s]],) if after[s] >= 0 else ()
                    add((-called[p][call], -state[p][s], *follows))
                if len(self._clauses) > _AT_ONCE:
                    self._hand_over()

    def _hand_over(self) -> None:
        self._look()
        most = max((abs(literal) for clause in self._clauses for literal in clause), default=0)
        lines = [" ".join(map(str, clause)) + " 0" for clause in self._clauses]
        self.solver.from_string("\n".join([f"p cnf {most} {len(lines)}", *lines, ""]))
        self._clauses.clear()

    def ask(self, assumed: Sequence[int]) -> Any:
        """Return `z3.sat`, `z3.unsat` or `z3.unknown`; a negative number is a variable assumed to be false."""
        terms = (z3.Ast * len(assumed))(*[self._terms[number].ast for number in assumed])
        answer = ask(
            self._context,
            lambda: z3.Z3_solver_check_assumptions(self._context.ref(), self.solver.solver, len(assumed), terms),
        )
        return z3.CheckSatResult(answer)

    def order(self) -> list[int]:
        """Return the operations that take effect, in the order last found."""
        found = self.solver.model()

        def holds(variable: int) -> bool:
            return bool(z3.is_true(found.eval(self._terms[variable], model_completion=True)))

        taken = [i for i, effect in enumerate(self.effect) if holds(effect)]
        return sorted(taken, key=lambda i: next(p for p, at in enumerate(self._at[i]) if holds(at)))
