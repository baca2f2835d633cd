"""The ordered accesses of the package, and the ways in which each may be weakened."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import latchfree
from latchfree_evidence.refinement.labels import ATOMIC, accesses
from latchfree_explore.views.weakening import AS_STORE, NOT_SEQ, RELAXED

_IMPL: Final = Path(latchfree.__path__[0])
_ELSEWHERE: Final = ("atomics.py",)  # it defines them

#: How accesses are weakened, by the names that the table uses.
WAYS: Final = {"not seq_cst": NOT_SEQ, "relaxed": RELAXED, "a store": AS_STORE, "left out": RELAXED}


class OrderedAccess(NamedTuple):
    """One atomic access of the package.

    Attributes
    ----------
    file : str
        From the package's folder.
    function : str
    kind : str
        The function of `latchfree.atomics`.
    number : int
        Which access of that kind in the function, from 1.
    """

    file: str
    function: str
    kind: str
    number: int

    @property
    def order(self) -> str:
        """The order that it asks for."""
        return {"load": "acquire", "load_unsure": "acquire", "store": "release"}.get(self.kind, "seq_cst")

    @property
    def ways(self) -> tuple[str, ...]:
        """How it may be weakened, the least first."""
        if self.kind == "fence":
            return ("left out",)
        if self.order != "seq_cst":
            return ("relaxed",)
        return ("not seq_cst", "relaxed", "a store") if self.kind == "exchange" else ("not seq_cst", "relaxed")

    def __str__(self) -> str:
        which = f" {self.number}" if self.number > 1 else ""
        return f"{self.file} {self.function} {self.kind}{which}"


def _imported(text: str) -> set[str]:
    """Return the names that a module has from `latchfree.atomics`."""
    return {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "latchfree.atomics"
        for alias in node.names
    }


@cache
def by_line() -> dict[str, OrderedAccess]:
    """Return all ordered accesses of the package, by "file:line" as sites are named."""
    found = {}
    for path in sorted(_IMPL.rglob("*.py")):
        file = path.relative_to(_IMPL).as_posix()
        if file in _ELSEWHERE:
            continue
        text = path.read_text(encoding="utf-8")
        ours = _imported(text)
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        seen: Counter[tuple[str, str]] = Counter()
        for access in accesses(text, ATOMIC | {"fence"}):
            if access.kind not in ours:
                continue  # another function of that name
            around = [node for node in functions if node.lineno <= access.line <= (node.end_lineno or 0)]
            function = max(around, key=lambda node: node.lineno).name
            seen[function, access.kind] += 1
            named = OrderedAccess(file, function, access.kind, seen[function, access.kind])
            found[f"{_IMPL.name}/{file}:{access.line}:{access.kind}"] = named
    return found


def access_at(site: str, kind: str) -> OrderedAccess | None:
    """Return the access of a kind at a "file:line", None if it is not of the package."""
    return by_line().get(f"{site}:{kind}")
