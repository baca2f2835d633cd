"""Lemmas: claims about the word-level code for all words, each with a wrong twin that the lemma must refute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import z3

from latchfree_evidence.symbolic.code import Twin
from latchfree_evidence.symbolic.paths import each_path
from latchfree_evidence.symbolic.typed import other_numbers
from latchfree_evidence.symbolic.words import BITS, Truth, Undefined, Word, term_of
from latchfree_support.solving import ask, leave_ctrl_c

Answer = Literal["proved", "refuted", "unknown"]


@cache
def _unknown(name: str) -> Any:
    """Return the unknown word of a name: thousands of cases have the same names."""
    return z3.BitVec(name, BITS)


class Case:
    """One run of a lemma: makes unknown words, takes assumptions, collects claims."""

    def __init__(self, solver: Any, names: dict[str, Any]) -> None:
        self._solver = solver
        self._names = names
        self.claims: list[tuple[str, Any]] = []

    def word(self, name: str, *, below: int | None = None) -> Word:
        """Return an unknown word, the same in every run; optionally below a bound."""
        if name not in self._names:
            self._names[name] = _unknown(name)
            if below is not None:
                self._solver.add(z3.ULT(self._names[name], below))
        return Word(self._names[name])

    def assume(self, condition: Truth | bool) -> None:
        """From here on, look only at cases where this holds."""
        if not bool(condition):
            raise Excluded

    def given(self, condition: Truth | bool) -> None:
        """State what is true by definition of a function that the proof abstracts from."""
        self._solver.add(term_of(condition))

    def claim(self, what: str, condition: Truth | bool) -> None:
        """Claim that this holds in every case."""
        if condition is not True:  # most are: a word was read that was written before
            self.claims.append((what, term_of(condition)))


class Excluded(Exception):
    """The path leaves the assumptions."""


Statement = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Lemma:
    """A claim about code.

    Attributes
    ----------
    name : str
        Its name.
    says : str
        What it says, in one sentence.
    state : callable
        ``state(case, code, **fixed)``: makes unknown words, assumes and claims.
    cases : callable
        Yields the values of ``fixed``: a proof by cases, where all together is too much for the solver.
    twin : Twin
        A wrong version of one of the functions; with it in place the lemma must be refuted.
    logic : str
        Chooses the solver, as Z3 names it: of bit vectors and functions. ``"QF_BV"``, of bit vectors alone, is ten
        times as slow for some statements and a hundred times as fast for others.
    """

    name: str
    says: str
    state: Statement
    twin: Twin
    cases: Callable[[], Iterator[Mapping[str, int]]] = field(default=lambda: iter([{}]))
    logic: str = "QF_UFBV"


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of a lemma.

    Attributes
    ----------
    answer : "proved", "refuted" or "unknown"
        Unknown: the solver gave up, time ran out, or numba computes with other numbers than unsigned words.
    claim : str
        Which claim failed or was not decided.
    counterexample : dict
        Values of the unknown words for which it fails.
    paths : int
        Paths run, over all cases.
    seconds : float
        Wall time.
    """

    answer: Answer
    claim: str
    counterexample: Mapping[str, int]
    paths: int
    seconds: float


def prove(lemma: Lemma, code: Any, *, timeout: float = 60.0) -> Proof:
    """Prove a lemma of some code, or refute it.

    Parameters
    ----------
    lemma : Lemma
        The lemma.
    code : Code
        The code: the real one, or the one with wrong twins in it.
    timeout : float
        Seconds for all of it; then the answer is "unknown".

    Returns
    -------
    Proof

    Notes
    -----
    All terms share one Z3 context, which stands one thread at a time: prove one lemma after the other. A statement must
    leave no term in a reference cycle, because the garbage collector may run in another thread.
    """
    started = time.perf_counter()
    deadline = started + timeout
    paths = 0

    def answer(what: Answer, claim: str = "", values: Mapping[str, int] | None = None) -> Proof:
        return Proof(what, claim, values or {}, paths, time.perf_counter() - started)

    solver = leave_ctrl_c(z3.SolverFor(lemma.logic))
    solver.set("timeout", max(1, int(1000 * timeout)))
    for fixed in lemma.cases():
        solver.push()
        names: dict[str, Any] = {}

        def run(
            fixed: Mapping[str, int] = fixed, solver: Any = solver, names: dict[str, Any] = names
        ) -> list[tuple[str, Any]]:
            case = Case(solver, names)
            try:
                lemma.state(case, code, **fixed)
            except Excluded:
                return []
            except Undefined as error:
                return [*case.claims, (f"defined: {error}", z3.BoolVal(False))]
            return case.claims

        for claims in each_path(run, solver):
            paths += 1
            if not claims or _answer(solver, [term for _, term in claims], deadline) == z3.unsat:
                continue
            for what, term in claims:
                found = _answer(solver, [term], deadline)
                if found == z3.unsat:
                    continue
                if found != z3.sat:
                    return answer("unknown", what)
                model = solver.model()
                values = {name: model.eval(word, model_completion=True).as_long() for name, word in names.items()}
                return answer("refuted", what, {**fixed, **values})
        solver.pop()
    signed = [place for function in code.reached() for place in other_numbers(function)]
    return answer("unknown", f"a proof is of unsigned words: {signed[0]}") if signed else answer("proved")


def _answer(solver: Any, terms: list[Any], deadline: float) -> Any:
    """Whether all terms hold: unsat if they do; unknown if the deadline passes first. A model stays with the solver."""
    left = deadline - time.perf_counter()
    if left <= 0:
        return z3.unknown
    solver.set("timeout", max(1, int(1000 * left)))
    return ask(solver.ctx, lambda: solver.check(z3.Not(z3.And(*terms))))
