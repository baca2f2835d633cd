"""The terms that formulas name: what the hypotheses are assumed of."""

from __future__ import annotations

from collections.abc import Iterable

import z3

from latchfree_evidence.inductive.logic import Term
from latchfree_evidence.inductive.vocabulary import Vocabulary

Pool = dict[str, dict[int, Term]]
"""By sort, and by Z3's number of the term, which holds while the term does."""


def pool_of(vocabulary: Vocabulary) -> Pool:
    """Return an empty pool."""
    return {sort.name(): {} for sort in vocabulary.sorts.values()}


class Names:
    """What formulas name: terms of the sorts, and numbers that are arguments of fields. Each formula is read once.

    Parameters
    ----------
    empty : Pool
        A pool, for its sorts.
    """

    def __init__(self, empty: Pool) -> None:
        self._sorts = frozenset(empty) - {"Bool", "Int"}
        self._read: dict[int, tuple[Term, list[tuple[str, Term]]]] = {}

    def add(self, formulas: Iterable[Term], pool: Pool) -> None:
        """Add to a pool what formulas name."""
        for formula in formulas:
            number = formula.get_id()
            if number not in self._read:
                self._read[number] = formula, self._named(formula)
            for sort, term in self._read[number][1]:
                pool[sort][term.get_id()] = term

    def _named(self, formula: Term) -> list[tuple[str, Term]]:
        """Return the terms with their sorts; each once."""
        found: list[tuple[str, Term]] = []
        seen: set[int] = set()
        numbers: set[int] = set()
        stack = [formula]
        while stack:
            term = stack.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if (name := term.sort().name()) in self._sorts:
                found.append((name, term))
            field = term.decl().kind() == z3.Z3_OP_UNINTERPRETED
            for child in term.children():
                if field and child.sort_kind() == z3.Z3_INT_SORT and child.get_id() not in numbers:
                    numbers.add(child.get_id())
                    found.append(("Int", child))
                stack.append(child)
        return found
