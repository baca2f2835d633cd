"""Find the places where plain Python calls compiled code, which takes addresses and lengths on trust."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from latchfree.border import Border

ROOT: Final = Path(__file__).parents[3]

_COMPILED: Final = ("kernel", "entry", "overload", "intrinsic")
_ENTRIES: Final = ("callback", "builtin", "border.builtin", "define", "new_type")


def _plain_calls(node: ast.AST) -> Iterator[ast.Call | ast.Attribute]:
    """Yield the calls in a module, and what it takes of a table of calls, but for compiled functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            names = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in child.decorator_list}
            if names & set(_COMPILED):
                continue
        if isinstance(child, ast.Call | ast.Attribute):
            yield child
        yield from _plain_calls(child)


def _late(tree: ast.Module) -> dict[str, Any]:
    """Return what functions of a module import when they are called."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and node.col_offset)
    return {
        alias.asname or alias.name: getattr(importlib.import_module(node.module or ""), alias.name, None)
        for node in imports
        if (node.module or "").startswith("latchfree")
        for alias in node.names
    }


def _found(names: dict[str, Any], call: ast.Call | ast.Attribute) -> str | None:
    """Return what a call calls, if that is compiled code or its entry point."""
    if isinstance(call, ast.Attribute):
        name = ast.unparse(call)
        table = names.get(name.partition(".")[0])
        return name if isinstance(table, Border) and name.count(".") == 1 and call.attr in table.calls else None
    name = ast.unparse(call.func)
    if name == "getattr" and isinstance(names.get(ast.unparse(call.args[0])), Border):
        return ast.unparse(call)
    if name in _ENTRIES:
        first = ast.unparse(call.args[0]) if call.args else ""
        return f"{name}({first})"
    first, *rest = name.split(".")
    here = names.get(first)
    for part in rest:
        here = getattr(here, part, None)
    return name if hasattr(here, "py_func") else None


def sites(*packages: str) -> dict[str, set[str]]:
    """Return, by module, the compiled functions that plain Python calls there; modules of kernels are left out."""
    found: dict[str, set[str]] = {}
    for package in packages:
        home = Path(importlib.import_module(package).__path__[0])
        for file in sorted(home.rglob("*.py")):
            parts = file.relative_to(home.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if "kernels" in parts or parts[-1] == "__main__":
                continue
            tree = ast.parse(file.read_text())
            names = vars(importlib.import_module(name)) | _late(tree)
            called = {what for call in _plain_calls(tree) if (what := _found(names, call))}
            if called:
                found[name] = called
    return found
