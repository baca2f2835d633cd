"""What a mutant changes: the right functions and those in their place, compared line by line, from their sources."""

from __future__ import annotations

import ast
import difflib
import importlib.util
from pathlib import Path

from latchfree_evidence import Mutant

_MUTANTS = "latchfree_evidence.mutants"


def story_of(mutant: Mutant) -> str:
    """Return what the file of a mutant says about it."""
    return ast.get_docstring(ast.parse(_text(f"{_MUTANTS}.{mutant.source}"))) or mutant.summary


def difference(mutant: Mutant) -> list[tuple[str, list[str]]]:
    """Return, for each function that a mutant replaces, its name and the lines: " " both, "-" right, "+" wrong."""
    wrong = f"{_MUTANTS}.{mutant.source}"
    found = []
    for target in mutant.replaces:
        module, function = target.split(":")
        lines = difflib.ndiff(_function(module, function), _function(wrong, function))
        found.append((f"{module}.{function}", [line for line in lines if not line.startswith("?")]))
    return found


def _function(module: str, name: str) -> list[str]:
    text = _text(module)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return text.splitlines()[node.lineno - 1 : node.end_lineno]
    raise ValueError(f"{module} has no function {name!r}")


def _text(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no module {module}")
    return Path(spec.origin).read_text(encoding="utf-8")
