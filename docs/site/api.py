"""The reference of the Python names: a page a package, made of its docstrings, without importing anything.

The names are those of a package's ``__init__.pyi``; where each is defined is what that file imports it from.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

PACKAGES = {
    "latchfree": "impl",
    "latchfree_lincheck": "lincheck",
    "latchfree_explore": "explore",
    "latchfree_evidence": "evidence",
    "latchfree_teach": "teach",
    "latchfree_model": "model",
    "latchfree_fsck": "fsck",
}
_UNDERLINE = re.compile(r"^-{3,}$")


@dataclass
class Name:
    """A public name: its definition, and where it stands."""

    name: str
    node: ast.AST
    file: Path


def page(root: Path, package: str) -> str:
    """Return the page of a package in Markdown."""
    folder = root / PACKAGES[package] / package
    lines = [f"# {package}", "", _docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))), ""]
    for each in names(folder):
        lines += _entry(each)
    return "\n".join(lines)


def names(folder: Path) -> Iterator[Name]:
    """Yield the public names of a package, in order."""
    face = folder / "__init__.pyi"
    tree = ast.parse((face if face.is_file() else folder / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            name = alias.asname or alias.name
            if name.startswith("_"):
                continue
            place = _file(folder, node)
            module = _module(folder / alias.name) if node.module is None else None
            found = (ast.parse(module.read_text(encoding="utf-8")), module) if module else _find(place, alias.name)
            if found is not None:
                yield Name(name, *found)


def _module(place: Path) -> Path | None:
    """Return the file of a module or package, its face if it has one."""
    for file in (place.with_suffix(".py"), place / "__init__.pyi", place / "__init__.py"):
        if file.is_file():
            return file
    return None


def _file(folder: Path, node: ast.ImportFrom) -> Path:
    parts = (node.module or "").split(".")
    base = folder
    if not node.level:
        parts = parts[1:] if parts and parts[0] == folder.name else parts
    return _module(base.joinpath(*(part for part in parts if part))) or base


def _find(file: Path, name: str, depth: int = 0) -> tuple[ast.AST, Path] | None:
    """Return the definition of a name, followed through what a file imports."""
    if not file.is_file() or depth > 4:
        return None
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and node.name == name:
            return node, file
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            top = next(parent for parent in file.parents if not (parent.parent / "__init__.py").is_file())
            base = file.parent if node.level == 1 else top
            for _ in range(node.level - 2):
                base = base.parent
            parts = (node.module or "").split(".")
            if not node.level:
                if parts[0] != top.name:
                    return None
                parts = parts[1:]
            place = base.joinpath(*(part for part in parts if part))
            origin = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return _find(_module(place) or place, origin, depth + 1)
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node):
            return node, file
    return None


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _entry(each: Name) -> list[str]:
    node = each.node
    if isinstance(node, ast.Module):
        return _module_entry(each)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return [f"## {each.name}", "", _constant(each), ""]
    kind = "class" if isinstance(node, ast.ClassDef) else "def"
    lines = [f"## {each.name}", "", "```python", f"{kind} {each.name}{_signature(node)}", "```", ""]
    lines += [_docstring(node), ""]
    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and ast.get_docstring(member):
                lines += [f"### {each.name}.{member.name}", "", "```python", f"{_decoration(member)}{member.name}"]
                lines[-1] += _signature(member, method=True)
                lines += ["```", "", _docstring(member), ""]
    return lines


def _module_entry(each: Name) -> list[str]:
    """Return a module with its functions."""
    assert isinstance(each.node, ast.Module)
    text = each.node
    if each.file.suffix == ".pyi":
        text = ast.parse(each.file.with_suffix(".py").read_text(encoding="utf-8"))
    lines = [f"## {each.name}", "", _docstring(text), ""]
    for node in each.node.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and ast.get_docstring(node):
            lines += [f"### {each.name}.{node.name}", "", "```python", f"def {node.name}{_signature(node)}", "```", ""]
            lines += [_docstring(node), ""]
    return lines


def _constant(each: Name) -> str:
    """Return the text below an assignment, which says what it is."""
    body = ast.parse(each.file.read_text(encoding="utf-8")).body
    for node, after in pairwise(body):
        if not (isinstance(node, ast.Assign | ast.AnnAssign) and each.name in _targets(node)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            return "\n".join(_sections(inspect.cleandoc(after.value.value).splitlines()))
    return f"A constant of `{each.file.stem}`."


def _decoration(node: ast.FunctionDef) -> str:
    names = [ast.unparse(each) for each in node.decorator_list]
    property_ = any(name in ("property", "cached_property") for name in names)
    return "".join(f"@{name}\n" for name in names if property_ or name in ("classmethod", "staticmethod")) + "def "


def _signature(node: ast.AST, *, method: bool = False) -> str:
    if isinstance(node, ast.ClassDef):
        made = next((x for x in node.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"), None)
        return _signature(made, method=True) if made is not None else ""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): pass"))).body[0]
    assert isinstance(arguments, ast.FunctionDef)
    given = arguments.args
    if method and given.args and given.args[0].arg in ("self", "cls"):
        given.args = given.args[1:]
    elif method and given.posonlyargs and given.posonlyargs[0].arg in ("self", "cls"):
        given.posonlyargs = given.posonlyargs[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None and node.name != "__init__" else ""
    return f"({ast.unparse(given)}){returns}"


def _docstring(node: ast.AST) -> str:
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return "\n".join(_sections(inspect.cleandoc(text).splitlines()))


def _sections(lines: list[str]) -> Iterator[str]:
    """Yield a docstring in numpydoc as Markdown: sections in bold, parameters as a list, examples as code."""
    at, section = 0, ""
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]):
            section = line.strip()
            yield from ("", f"**{section}**", "")
            at += 2
        elif line.startswith(">>> ") or (line.strip() and line.startswith("    ") and not section) or _is_drawn(line):
            end = next((k for k in range(at, len(lines)) if not lines[k].strip()), len(lines))
            yield from ("", "```text", *lines[at:end], "```", "")
            at = end
        elif section in ("Parameters", "Attributes", "Raises", "Returns", "Yields") and line and line[0] != " ":
            end = next((k for k in range(at + 1, len(lines)) if lines[k] and lines[k][0] != " "), len(lines))
            words = " ".join(each.strip() for each in lines[at + 1 : end] if each.strip())
            yield f"- `{line.strip()}`" + (f": {_plain(words)}" if words else "")
            at = end
        else:
            yield _plain(line)
            at += 1


def _is_drawn(line: str) -> bool:
    return line.startswith(("===", "+--", "---"))


def _plain(text: str) -> str:
    """Return a line without what Markdown would take for markup: code stays code."""
    text = text.replace("``", "`").replace("::", ":")
    parts = text.split("`")
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([*_<>\[\]#|])", r"\\\1", parts[k])
    return "`".join(parts)
