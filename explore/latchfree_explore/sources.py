"""Find the function and the text of a "file:line"; hash the sources that a target is made of."""

from __future__ import annotations

import ast
import hashlib
import sys
from functools import cache
from pathlib import Path

import latchfree
from latchfree_explore.target import Target


@cache
def _path(file: str) -> Path | None:
    """Return the loaded file of a name, which starts at the folder of its top-level package."""
    for module in list(sys.modules.values()):
        loaded = getattr(module, "__file__", None)
        if loaded and (loaded == file or loaded.endswith("/" + file)):
            return Path(loaded)
    return None


@cache
def _parsed(file: str) -> tuple[list[str], list[ast.FunctionDef]]:
    path = _path(file)
    if path is None or not path.is_file():
        return [], []
    text = path.read_text(encoding="utf-8")
    return text.splitlines(), [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]


def function_of(site: str) -> str:
    """Return the name of the innermost function around a "file:line", empty if it cannot be told."""
    file, _, line = site.rpartition(":")
    around = [node for node in _parsed(file)[1] if node.lineno <= int(line or 0) <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno).name if around else ""


def text_of(site: str) -> str:
    """Return the source line, stripped, empty if it cannot be found."""
    file, _, line = site.rpartition(":")
    lines = _parsed(file)[0]
    return lines[int(line) - 1].strip() if 0 < int(line or 0) <= len(lines) else ""


def source_hash(target: Target) -> str:
    """Return a hash of the latchfree package and of the files that define the target's kernels."""
    files = set(Path(latchfree.__file__).parent.rglob("*.py"))
    for name in target.operations:
        files.add(Path(target.operation(name).kernel.py_func.__code__.co_filename))
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: (file.name, str(file))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
