"""Which variables threads may share: those of a module that functions assign, and those that inner functions assign."""

from __future__ import annotations

import ast


def module_variables(tree: ast.Module) -> set[str]:
    """Return the names that some function declares as ``global``."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def closure_variables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that this function, or one inside it, declares as ``nonlocal``."""
    return {name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
