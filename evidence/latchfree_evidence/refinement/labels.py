"""The labels that tie an atomic access of the code to its action in the specification.

A label is a comment right above the line of the access::

    # spec: Ctrie!GcasReadPrev -- why this order is enough
    # spec: Ctrie!RdcssSwing, Ctrie!CompleteAbortRoot -- one access, two actions: the caller decides
    # spec: none -- why the specification has no such step

The comment may go on for several lines. It labels every access in the line below it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import latchfree
import latchfree_evidence

ATOMIC: Final = frozenset({
    "load", "load_seq", "load_unsure", "store", "cas", "exchange", "fetch_add", "fetch_or", "fetch_and", "fetch_max",
    "fetch_min",
})  # fmt: skip
"""The functions of `latchfree.atomics` that are a shared access."""

_DECIDES: Final = {"gcas_read": "GcasReadMain", "gcas": "GcasCas"}
"""Functions of which a whole call is one action of `TopicTrie.tla`, and the action of `Ctrie.tla` that decides it."""

NONE: Final = "none"
"""The label of an access that is no step of the specification."""

LABEL: Final = re.compile(r"#\s*spec:\s*(?P<names>\w+(?:!\w+)?(?:\s*,\s*\w+!\w+)*)(?:\s+--\s+(?P<why>.+))?$")


class Access(NamedTuple):
    """One atomic access in a source file.

    Attributes
    ----------
    line : int
        Its line, from 1.
    kind : str
        The function of `latchfree.atomics`.
    labels : tuple of str
        ``Module!Action``; ``none`` alone for what is no step; empty if there is no label.
    why : str
        What the label says after the dashes.
    """

    line: int
    kind: str
    labels: tuple[str, ...]
    why: str


def accesses(text: str, functions: Container[str] = ATOMIC) -> list[Access]:
    """Return the calls of some functions, by default the atomic accesses, in a module's text, in the order of lines."""
    return _calls(text, functions)


def _calls(text: str, functions: Container[str]) -> list[Access]:
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            names, why = _label_above(lines, node.lineno)
            found.append(Access(node.lineno, node.func.id, names, why))
    return sorted(found)


def label_lines(text: str) -> list[int]:
    """Return the lines of a module that hold a label."""
    return [number for number, line in enumerate(text.splitlines(), 1) if LABEL.match(line.strip())]


def _label_above(lines: list[str], line: int) -> tuple[tuple[str, ...], str]:
    """Return the names and the reason of the label in the comment that ends above a line."""
    at = line - 1
    while at > 0 and lines[at - 1].strip().startswith("#"):
        found = LABEL.match(lines[at - 1].strip())
        if found:
            return tuple(re.split(r"\s*,\s*", found["names"])), found["why"] or ""
        at -= 1
    return (), ""


@cache
def _labels_in(file: str) -> dict[int, tuple[str, ...]]:
    for package in (latchfree, latchfree_evidence):
        path = Path(package.__path__[0]).parent / file
        if path.is_file():
            return {access.line: access.labels for access in accesses(path.read_text(encoding="utf-8"))}
    return {}


def labels_at(site: str) -> tuple[str, ...]:
    """Return the labels of the access at a "file:line" of latchfree or of a mutant; none if it has no label."""
    file, _, line = site.rpartition(":")
    return _labels_in(file).get(int(line), ()) if file else ()


def ctrie_actions(site: str) -> frozenset[str]:
    """Return the actions of `Ctrie.tla` that the access at a "file:line" may be."""
    module = "Ctrie!"
    return frozenset(name.removeprefix(module) for name in labels_at(site) if name.startswith(module))


@cache
def topic_actions() -> Mapping[str, frozenset[str]]:
    """Return the actions of `TopicTrie.tla` that an action of `Ctrie.tla` may be the deciding access of.

    Example: ``GcasCas`` may be that of ``SubscribeCas``, of ``UnsubscribeCas`` or of ``CleanCas``.
    """
    module = "TopicTrie!"
    found: dict[str, set[str]] = defaultdict(set)
    for file in sorted((Path(latchfree.__path__[0]) / "topics/concurrent/kernels").glob("*.py")):
        for call in _calls(file.read_text(encoding="utf-8"), _DECIDES):
            own = (name.removeprefix(module) for name in call.labels if name.startswith(module))
            found[_DECIDES[call.kind]].update(own)
    return {name: frozenset(actions) for name, actions in found.items()}
