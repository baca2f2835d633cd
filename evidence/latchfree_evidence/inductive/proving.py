"""Show the obligations of a system with Z3, without quantifiers, so that every answer is "proved" or "refuted".

The invariant is assumed of the threads, nodes and numbers that the obligation names, in rounds: the second round
assumes it also of those that the first one has named. A number counts where it is the argument of a field. What is
refuted so cannot be proved from these instances; a picture shows a state in which the step breaks the goal.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import z3

from latchfree_evidence.inductive.logic import Term, negated, symbolic
from latchfree_evidence.inductive.names import Names, Pool, pool_of
from latchfree_evidence.inductive.obligations import INITIALLY, Obligation, obligations
from latchfree_evidence.inductive.picture import picture
from latchfree_evidence.inductive.system import Part, System
from latchfree_evidence.inductive.vocabulary import Vocabulary
from latchfree_support.solving import ask, leave_ctrl_c

TIMEOUT: Final = 60.0
"""Seconds of Z3 for one obligation, unless the caller says otherwise."""
MOST: Final = 20_000
"""Instances of hypotheses for one obligation; more would be a mistake in the system."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An obligation that is not proved.

    Attributes
    ----------
    says : str
        The step and the goal.
    answer : "refuted" or "unknown"
        Unknown: the solver gave up.
    picture : str
        A state in which the step breaks the goal, the threads side by side.
    """

    says: str
    answer: Literal["refuted", "unknown"]
    picture: str


@dataclass(frozen=True, slots=True)
class Induction:
    """What came of the obligations of a system.

    Attributes
    ----------
    owed : int
        The obligations tried.
    failures : tuple of Failure
        Those that are not proved.
    most : int
        The most instances that one of them took.
    seconds : float
        Wall time.
    """

    owed: int
    failures: tuple[Failure, ...]
    most: int
    seconds: float


class TooManyInstances(RuntimeError):
    """An obligation names so many terms that its hypotheses do not fit."""


def prove_system(
    system: System,
    *,
    seed: int = 0,
    rounds: int | None = None,
    timeout: float = TIMEOUT,
    without: str = "",
    stop: int | None = None,
    beside: System | None = None,
) -> Induction:
    """Try each obligation of a system.

    Parameters
    ----------
    system : System
        The system.
    seed : int
        The seed of Z3's search.
    rounds : int, optional
        Rounds of instances, else those of the system.
    timeout : float
        Seconds for one obligation.
    without : str
        A conjunct to be left out, to see whether the others need it.
    stop : int, optional
        After so many failures the rest is not tried.
    beside : System, optional
        Another variant: the cases that it does not have are tried first.

    Returns
    -------
    Induction

    Raises
    ------
    ValueError
        If the system has no conjunct `without`.
    """
    if without and without not in system.invariant:
        raise ValueError(f"{type(system).__name__} has no conjunct {without!r}; it has: {', '.join(system.invariant)}")
    started = time.perf_counter()
    vocabulary = Vocabulary(system)
    hypotheses = _Hypotheses(system, vocabulary, without)
    failures: list[Failure] = []
    owed = most = 0
    for obligation in obligations(system, vocabulary, without, beside):
        owed += 1
        if obligation.claim is True:
            continue
        solver = leave_ctrl_c(z3.Solver())
        solver.set("timeout", max(1, int(1000 * timeout)))
        solver.set("random_seed", seed)
        answer, instances = hypotheses.solve(obligation, solver, rounds or system.rounds)
        most = max(most, instances)
        if answer == z3.sat:
            failures.append(
                Failure(obligation.says, "refuted", picture(system, vocabulary, obligation, solver.model()))
            )
        elif answer != z3.unsat:
            failures.append(Failure(obligation.says, "unknown", solver.reason_unknown()))
        if stop is not None and len(failures) >= stop:
            break
    return Induction(owed, tuple(failures), most, time.perf_counter() - started)


class _Hypotheses:
    """The invariant, the axioms and the initial states, instantiated; instances are shared by all obligations."""

    def __init__(self, system: System, vocabulary: Vocabulary, without: str) -> None:
        s = vocabulary.state
        axioms = system.axioms(s)
        held = {name: part for name, part in system.invariant.items() if name != without}
        self._of_steps = {**_at(held, s), **axioms}
        self._of_start = {**system.initially(s), **axioms}
        self._vocabulary = vocabulary
        self._made: dict[tuple[Any, ...], tuple[Term, tuple[Term, ...]]] = {}
        self._names = Names(pool_of(vocabulary))

    def solve(self, obligation: Obligation, solver: Any, rounds: int) -> tuple[Any, int]:
        """Return Z3's answer to the negation of an obligation, and how many instances it took."""
        first = obligation.step == INITIALLY
        universals = self._of_start if first else self._of_steps
        if obligation.given is not None:
            universals = {**universals, f"{obligation.step} {obligation.given.name}": obligation.given}
        base = [term if symbolic(term) else z3.BoolVal(term) for term in (obligation.guard, negated(obligation.claim))]
        solver.add(*base)
        pool = pool_of(self._vocabulary)
        constants = [term for term in self._vocabulary.constants.values() if term.sort() != z3.IntSort()]
        for term in (*constants, *obligation.named):
            pool[term.sort().name()][term.get_id()] = term
        self._names.add(base, pool)
        if obligation.beside is not None:
            named = [term for point in self._points(obligation.beside, pool) for term in obligation.beside.run(*point)]
            for term in named:
                pool[term.sort().name()][term.get_id()] = term
        done: set[tuple[Any, ...]] = set()
        answer = None
        for _ in range(rounds):
            new = self._instances(universals, first, pool, done)
            solver.add(*new)
            answer = ask(solver.ctx, solver.check)
            size = sum(map(len, pool.values()))
            if answer == z3.sat:
                self._names.add(new, pool)
            if answer != z3.sat or sum(map(len, pool.values())) == size:
                break
        return answer, len(done)

    def _points(self, part: Part, pool: Pool) -> Iterator[tuple[Term, ...]]:
        """Return all parameters of a part that a pool has."""
        return itertools.product(*(pool[self._vocabulary.sorts[sort].name()].values() for sort in part.sorts))

    def _instances(
        self, universals: Mapping[str, Part], first: bool, pool: Pool, done: set[tuple[Any, ...]]
    ) -> list[Term]:
        new = []
        for name, part in universals.items():
            for point in self._points(part, pool):
                key = (first, name, *(term.get_id() for term in point))
                if key in done:
                    continue
                done.add(key)
                if len(done) > MOST:
                    raise TooManyInstances(
                        f"an obligation takes more than {MOST} instances of hypotheses: give {name} fewer parameters"
                    )
                if key not in self._made:
                    self._made[key] = (part.run(*point), point)
                formula = self._made[key][0]
                if symbolic(formula):
                    new.append(formula)
                elif not formula:
                    new.append(z3.BoolVal(False))
        return new


def _at(parts: Mapping[str, Part], s: Any) -> dict[str, Part]:
    """Return conjuncts as functions of their parameters alone."""
    return {name: Part(name, part.sorts, lambda *point, run=part.run: run(s, *point)) for name, part in parts.items()}
