"""What must be shown of a system: a list of implications without quantifiers over the parameters of one step.

The invariant holds initially. Each case of each action keeps each conjunct, and makes its own claims true and the
claims about every step. If the system has a rank, each case that completes nothing lowers the rank of its thread and
raises no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from latchfree_evidence.inductive.logic import Term, all_of, implies, negated
from latchfree_evidence.inductive.system import Case, State, System
from latchfree_evidence.inductive.vocabulary import Vocabulary

INITIALLY = "Init"
"""The "step" that leads to the initial states."""


class Obligation(NamedTuple):
    """One thing to be shown.

    Attributes
    ----------
    step : str
        ``action:case``, or "Init".
    goal : str
        The name of a conjunct or a claim.
    guard, claim : term
        Under the invariant, the guard implies the claim.
    post : State
        The state after the step.
    named : tuple of terms
        The parameters of the step and of the goal.
    """

    step: str
    goal: str
    guard: Term
    claim: Term
    post: State
    named: tuple[Term, ...]

    @property
    def says(self) -> str:
        """The step and the goal in words."""
        return f"{self.step} does not keep {self.goal}"


def obligations(system: System, vocabulary: Vocabulary, without: str = "") -> Iterator[Obligation]:
    """Yield what must be shown, in a fixed order; one conjunct may be left out."""
    s = vocabulary.state
    for name, part in system.actions.items():
        own = tuple(vocabulary.fresh(sort, f"p{k}" if k else "p") for k, sort in enumerate(part.sorts))
        for case in part.run(s, *own):
            yield from _of_case(system, vocabulary, f"{name}:{case.label}".rstrip(":"), case, own, without)
    for name, goal in system.invariant.items():
        if name != without:
            named = _unknowns(vocabulary, goal.sorts)
            yield Obligation(INITIALLY, name, True, goal.run(s, *named), s, named)


def _of_case(
    system: System, vocabulary: Vocabulary, step: str, case: Case, own: tuple[Term, ...], without: str
) -> Iterator[Obligation]:
    s = vocabulary.state

    def owed(goal: str, claim: Term, named: tuple[Term, ...] = ()) -> Obligation:
        return Obligation(step, goal, case.guard, claim, case.post, (*own, *named))

    for name, claim in case.claims.items():
        yield owed(name, claim)
    if system.ranked and step not in system.completes:
        other = vocabulary.fresh(system.thread, "other")
        before, after = _ranks(system, s, case.post)
        yield owed("the rank falls", all_of(after(own[0]) >= 0, after(own[0]) < before(own[0])))
        yield owed("no rank rises", implies(negated(other == own[0]), after(other) <= before(other)), (other,))
    for name, claim in system.steps.items():
        named = _unknowns(vocabulary, claim.sorts)
        yield owed(name, claim.run(s, step, case.post, *named), named)
    for name, goal in system.invariant.items():
        if name != without:
            named = _unknowns(vocabulary, goal.sorts)
            yield owed(name, goal.run(case.post, *named), named)


def _ranks(system: System, s: State, post: State) -> tuple[Callable[[Term], Term], Callable[[Term], Term]]:
    return (lambda thread: system.rank(s, thread)), (lambda thread: system.rank(post, thread))


def _unknowns(vocabulary: Vocabulary, sorts: tuple[str, ...]) -> tuple[Term, ...]:
    return tuple(vocabulary.fresh(sort, f"{sort.lower()}{k}") for k, sort in enumerate(sorts, 1))
