"""The import statements of a source, found fast where they are plain, and by parsing where they may not be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple


class Statement(NamedTuple):
    """One imported name.

    Attributes
    ----------
    origin : str
        The module, with its leading dots; ``*`` for modules that the source chooses at run time.
    name : str
        What is imported from the module; "" if the module itself is.
    binds : str
        The module that the name then stands for, if that is not `origin`: ``import a.b`` binds ``a``.
    """

    origin: str
    name: str = ""
    binds: str = ""


#: A statement on lines of its own, with plain names only.
_FROM = re.compile(
    r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\((?:[\w\s,*]|#[^\n]*\n)*\)|[\w \t,*]+)[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.ASCII,
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w.][\w., \t]*)(?:#[^\n]*)?$", re.MULTILINE | re.ASCII)
_COMMENT = re.compile(r"#[^\n]*")

#: What else may import, or tells that an import is not one. A comment or a text that has the word costs a parse.
_DOUBT = re.compile(r"import|TYPE_CHECKING|\bexec\b|\beval\b|__builtins__|\bload_module\b|\brunpy\b")
_COOKIE = re.compile(rb"^[^\n]*\n?[ \t\f]*#[^\n]*coding[:=]|^[ \t\f]*#[^\n]*coding[:=]")


#: Calls that import, and assignments to the name that type checkers take for true.
_CALLED = re.compile(rb"import_module|__import__|\bexec|\beval\b|load_module|\brun_(?:module|path)\b")
_REBOUND = re.compile(rb"\bTYPE_CHECKING\b[^\n=]*=(?!=)|\bas[ \t]+TYPE_CHECKING\b")


def statements(content: bytes) -> tuple[Statement, ...]:
    """Return the imports of a source, also those inside of functions, but not those for type checkers only.

    SyntaxError and ValueError say that the source is not Python.
    """
    plain = _plain(content)
    return tuple(_parsed(content)) if plain is None else tuple(plain)


def _plain(content: bytes) -> list[Statement] | None:
    """Return the imports of a source that has only plain ones, None if there may be others."""
    if _COOKIE.match(content):
        return None
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None
    if "\\\n" in text:  # a line that goes on
        return None
    found: list[Statement] = []

    def take_from(match: re.Match[str]) -> str:
        for part in _COMMENT.sub("", match[2]).strip("() \t\n").split(","):
            words = part.split()
            if words:
                found.append(Statement(match[1], words[0]))
        return ""

    def take_import(match: re.Match[str]) -> str:
        for part in match[1].split(","):
            words = part.split()
            if words:
                found.append(_of_import(words[0], named=len(words) > 1))
        return ""

    rest = _IMPORT.sub(take_import, _FROM.sub(take_from, text))
    return None if _DOUBT.search(rest) else found


def _of_import(module: str, *, named: bool) -> Statement:
    """Return ``import module`` or, if `named`, ``import module as name``."""
    return Statement(module, "", module if named else module.split(".")[0])


def _parsed(content: bytes) -> Iterator[Statement]:
    tree = ast.parse(content)
    if _CALLED.search(content):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield from _called(node)
    rebound = _REBOUND.search(content) is not None
    left: list[Any] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _of_import(alias.name, named=alias.asname is not None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Statement("." * node.level + (node.module or ""), alias.name)
        elif isinstance(node, ast.If) and not rebound and _is_for_types(node.test):
            left.extend(node.orelse)
        else:
            for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                inner = getattr(node, block, ())
                left.extend(inner if isinstance(inner, list) else ())


def _is_for_types(test: ast.expr) -> bool:
    if isinstance(test, ast.Attribute):
        return test.attr == "TYPE_CHECKING" and isinstance(test.value, ast.Name) and test.value.id == "typing"
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _called(call: ast.Call) -> Iterator[Statement]:
    """Return what a call of `import_module` and the like imports."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("import_module", "__import__"):
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
            yield _of_import(first.value, named=name == "import_module")
        else:
            yield Statement("*")
    elif name in ("exec_module", "load_module", "run_module", "run_path") or (
        name in ("exec", "eval") and isinstance(call.func, ast.Name)
    ):
        yield Statement("*")


# names that a module hands on ----------------------------------------------------------------------------------------

_LAZY = re.compile(rb"__getattr__|__class__|sys\.modules\[")


def hands_on_lazily(content: bytes) -> bool:
    """Return whether a module may give names that it neither defines nor imports."""
    return _LAZY.search(content) is not None


def stub_names(content: bytes, name: str) -> list[str]:
    """Return the modules, with leading dots, from which a stub as of `lazy_loader` imports a name."""
    return _homes(content).get(name, [])


@cache  # a package's stub is asked for each name that somebody imports from the package
def _homes(content: bytes) -> dict[str, list[str]]:
    """Return the names that a stub imports, each with the modules that it comes from."""
    homes: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                home = origin if node.module else f"{origin}{alias.name}"
                homes.setdefault(alias.asname or alias.name, []).append(home)
    return homes
