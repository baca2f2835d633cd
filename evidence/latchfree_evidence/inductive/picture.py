"""A failed obligation as a picture: what is shared, and a column for each thread, before and after the step."""

from __future__ import annotations

import re
from typing import Any, Final

import z3

from latchfree_evidence.inductive.logic import Term, symbolic
from latchfree_evidence.inductive.obligations import Obligation
from latchfree_evidence.inductive.system import System
from latchfree_evidence.inductive.vocabulary import Vocabulary

NUMBER: Final = re.compile(r"-?\d+")


def picture(system: System, vocabulary: Vocabulary, obligation: Obligation, model: Any) -> str:
    """Return a text that shows a step that breaks a goal; only what the obligation names is shown."""
    view = _View(model)
    s, post = vocabulary.state, obligation.post
    threads: dict[str, Term] = {}
    for term in obligation.named:
        if term.sort() == vocabulary.sorts[system.thread]:
            threads.setdefault(view.text(term), term)
    head = ["", "shared", *(f"{term} = {text}" for text, term in threads.items())]
    for _ in range(2):  # what a field names, the fields above it show in the second round
        rows = [head]
        for name, (sorts, _result) in system.fields.items():
            before, after = getattr(s, name), getattr(post, name)
            if not sorts:
                rows.append([name, view.change(before, after), *("" for _ in threads)])
            elif sorts == (system.thread,):
                rows.append([name, "", *(view.change(before(term), after(term)) for term in threads.values())])
            elif len(sorts) == 1:
                points = view.points(vocabulary.sorts[sorts[0]])
                shown = [f"{text}: {view.change(before(term), after(term))}" for text, term in points]
                rows.append([name, ", ".join(shown), *("" for _ in threads)])
    rows = [row for row in rows if any(row[1:])]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    others = [f"{term} = {view.text(term)}" for term in obligation.named if view.text(term) not in threads]
    return "\n".join(
        [obligation.says + (f" ({', '.join(others)})" if others else ""), *(f"  {line}" for line in lines)]
    )


class _View:
    """A model's values as text. Asking for a term's value names it for the fields that come later."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._named: set[str] = set()

    def text(self, term: Term) -> str:
        value = self._model.eval(term if symbolic(term) else z3.BoolVal(term), model_completion=True)
        text = str(value).replace("!val!", "")
        self._named.add(text)
        return text

    def change(self, before: Term, after: Term) -> str:
        old, new = self.text(before), self.text(after)
        return old if old == new else f"{old} -> {new}"

    def points(self, sort: Any) -> list[tuple[str, Term]]:
        """Return the elements of a sort, or the numbers, that the picture has named, with their names."""
        if sort.kind() == z3.Z3_INT_SORT:
            return [(str(k), z3.IntVal(k)) for k in sorted(int(text) for text in self._named if NUMBER.fullmatch(text))]
        universe = (self._model.get_universe(sort) or ()) if sort in self._model.sorts() else ()
        found = {str(term).replace("!val!", ""): term for term in universe}
        return sorted((text, term) for text, term in found.items() if text in self._named)
