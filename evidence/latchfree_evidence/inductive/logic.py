"""Connectives that take Z3 terms and plain values alike, so that one text of a protocol is both proved and run.

Example: ``all_of(x > 0, True)`` is a Z3 term if ``x`` is one, and a bool if ``x`` is a number.
"""

from __future__ import annotations

from typing import Any

import z3

Term = Any
"""A term of Z3, or a plain value: bool, int, str."""


def symbolic(value: Term) -> bool:
    """Return whether a value is a term of Z3."""
    return isinstance(value, z3.ExprRef)


def same(one: Term, other: Term) -> bool:
    """Return whether two terms are the same text, or two values the same."""
    if symbolic(one) and symbolic(other):
        return bool(z3.eq(one, other))
    return not symbolic(one) and not symbolic(other) and bool(one == other)


def all_of(*terms: Term) -> Term:
    """Return the conjunction."""
    left = []
    for term in terms:
        if term is False:
            return False
        if term is not True:
            left.append(term)
    return _joined(z3.Z3_mk_and, left) if left else True


def any_of(*terms: Term) -> Term:
    """Return the disjunction."""
    left = []
    for term in terms:
        if term is True:
            return True
        if term is not False:
            left.append(term)
    return _joined(z3.Z3_mk_or, left) if left else False


def _joined(make: Any, terms: list[Term]) -> Term:
    """Return what Z3 makes of truth values; `z3.And` would look at each one's sort first."""
    context = terms[0].ctx
    return z3.BoolRef(make(context.ref(), len(terms), (z3.Ast * len(terms))(*(x.as_ast() for x in terms))), context)


def negated(term: Term) -> Term:
    """Return the negation."""
    if term is True or term is False:
        return not term
    return z3.Not(term) if symbolic(term) else not term


def implies(condition: Term, conclusion: Term) -> Term:
    """Return the implication."""
    return any_of(negated(condition), conclusion)


def choose(condition: Term, then: Term, otherwise: Term) -> Term:
    """Return one of two values."""
    if condition is True:
        return then
    if symbolic(condition):
        return z3.If(condition, then, otherwise)
    return then if condition else otherwise
