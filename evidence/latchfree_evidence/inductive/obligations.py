"""What must be shown of a system: a list of implications without quantifiers over the parameters of one step.

The invariant holds initially. Each case of each action keeps each conjunct, and makes its own claims true and the
claims about every step. If the system has a rank, each case that completes nothing lowers the rank of its thread and
raises no other. A conjunct that a case does not touch is the same term before and after; then the claim is True.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from latchfree_evidence.inductive.logic import Term, all_of, implies, negated, same, symbolic
from latchfree_evidence.inductive.system import Case, Part, State, System
from latchfree_evidence.inductive.vocabulary import Vocabulary

Held = tuple[Part, tuple[Term, ...], Term]
"""A conjunct, unknowns for its parameters, and the conjunct of them before a step."""

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
    given : Part or None
        What is assumed besides, of all its parameters.
    named : tuple of terms
        The parameters of the step and of the goal.
    beside : Part or None
        What the step is about besides, given any of its parameters.
    """

    step: str
    goal: str
    guard: Term
    claim: Term
    post: State
    given: Part | None
    named: tuple[Term, ...]
    beside: Part | None = None

    @property
    def says(self) -> str:
        """The step and the goal in words."""
        return f"{self.step} does not keep {self.goal}"


def obligations(
    system: System, vocabulary: Vocabulary, without: str = "", beside: System | None = None
) -> Iterator[Obligation]:
    """Yield what must be shown, in a fixed order.

    One conjunct may be left out. Cases that a system `beside` does not have come first: a wrong variant fails there.
    """
    s = vocabulary.state
    held = {}
    for name, goal in system.invariant.items():
        if name != without:
            named = _unknowns(vocabulary, goal.sorts)
            held[name] = goal, named, goal.run(s, *named)
    found = list(_cases(system, vocabulary))
    if beside is not None:
        vocabulary.give_constants(beside)
        known = {step: case for step, case, _ in _cases(beside, vocabulary)}
        found.sort(key=lambda each: each[0] in known and _same(system, vocabulary, each[1], known[each[0]]))
    for step, case, own in found:
        yield from _of_case(system, vocabulary, step, case, own, held)
    for name, (_, named, claim) in held.items():
        yield Obligation(INITIALLY, name, True, claim, s, None, named)


def _cases(system: System, vocabulary: Vocabulary) -> Iterator[tuple[str, Case, tuple[Term, ...]]]:
    """Yield the cases of all actions, each with its name and the parameters of its action."""
    for name, part in system.actions.items():
        own = tuple(vocabulary.fresh(sort, f"p{k}" if k else "p") for k, sort in enumerate(part.sorts))
        for case in part.run(vocabulary.state, *own):
            yield f"{name}:{case.label}".rstrip(":"), case, own


def _same(system: System, vocabulary: Vocabulary, one: Case, other: Case) -> bool:
    """Return whether two cases are the same terms, claims and all."""

    def terms(case: Case) -> Iterator[Term]:
        yield case.guard
        yield from case.claims.values()
        for name, (sorts, _) in system.fields.items():
            value = getattr(case.post, name)
            yield value(*_unknowns(vocabulary, sorts)) if sorts else value

    pairs = zip(terms(one), terms(other), strict=False)
    return list(one.claims) == list(other.claims) and all(same(a, b) for a, b in pairs)


def _of_case(
    system: System, vocabulary: Vocabulary, step: str, case: Case, own: tuple[Term, ...], held: Mapping[str, Held]
) -> Iterator[Obligation]:
    s = vocabulary.state

    def owed(goal: str, claim: Term, named: tuple[Term, ...] = ()) -> Obligation:
        return Obligation(step, goal, case.guard, claim, case.post, case.given, (*own, *named), case.names)

    if step in system.never:
        yield owed("that it is never taken", False)
        return
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
    for name, (goal, named, before) in held.items():
        after = goal.run(case.post, *named)
        yield owed(name, True if symbolic(after) and same(after, before) else after, named)


def _ranks(system: System, s: State, post: State) -> tuple[Callable[[Term], Term], Callable[[Term], Term]]:
    return (lambda thread: system.rank(s, thread)), (lambda thread: system.rank(post, thread))


def _unknowns(vocabulary: Vocabulary, sorts: tuple[str, ...]) -> tuple[Term, ...]:
    return tuple(vocabulary.fresh(sort, f"{sort.lower()}{k}") for k, sort in enumerate(sorts, 1))
