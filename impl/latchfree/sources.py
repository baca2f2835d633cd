"""A digest of the sources that a module can reach through its imports.

Invariant: if the machine code of a kernel can change, so does the digest of the kernel's module. A kernel can use only
what its module defines or imports, so an edit of a page generator leaves the digest of a search kernel as it was.

Followed are the imports of latchfree, of the module's own top-level package and of other code that is not installed;
not followed are the standard library, installed packages, and imports that only type checkers see.
"""

from __future__ import annotations

import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

#: ``from A import B, C`` (also in brackets), ``import A, B``; the group `indent` tells imports inside of blocks.
_IMPORT = re.compile(
    r"^(?P<indent>[ \t]*)(?:from[ \t]+(?P<origin>\.*[\w.]*)[ \t]+import[ \t]*"
    r"(?P<names>\([^)]*\)|[^\n#]*)|import[ \t]+(?P<modules>[^\n#]*))",
    re.MULTILINE,
)
_TYPES_ONLY = re.compile(r"^if (?:typing\.)?TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")

_INSTALLED = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) + "/" for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class _Imported(NamedTuple):
    """One imported name: ``from origin import name as alias``, or ``import origin`` with an empty name."""

    origin: str
    name: str
    alias: str


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape")


@cache
def _imports(file: Path) -> tuple[_Imported, ...]:
    found: list[_Imported] = []
    for match in _IMPORT.finditer(_TYPES_ONLY.sub("", _text(file))):
        origin = match["origin"]
        for part in _COMMENT.sub("", match["names"] or match["modules"] or "").strip("()").split(","):
            words = part.split()
            if words:
                name = words[0]
                found.append(_Imported(origin, name, words[-1]) if origin else _Imported(name, "", ""))
    return tuple(found)


@cache
def _file_of(module: str) -> Path | None:
    """Return the source of a module, found without importing anything; None if there is none."""
    top, *rest = module.split(".")
    loaded = sys.modules.get(top)
    file = getattr(loaded, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    if not rest:
        return Path(file).resolve()
    for folder in getattr(loaded, "__path__", ()):
        base = Path(folder).joinpath(*rest).resolve()
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _is_followed(top: str, own: str) -> bool:
    if top in sys.stdlib_module_names or top in ("numba", "numpy", "llvmlite"):
        return False
    if top == own or top.split("_")[0] == "latchfree":
        return True
    file = _file_of(top)
    return file is not None and not str(file).startswith(_INSTALLED)


def _absolute(origin: str, module: str, file: Path) -> str:
    """Return the name of a module that `module` names relative to itself."""
    dots = len(origin) - len(origin.lstrip("."))
    if not dots:
        return origin
    parts = module.split(".")
    base = parts[: len(parts) - dots + (file.name == "__init__.py")]
    return ".".join([*base, *filter(None, [origin.lstrip(".")])])


def _home_of(module: str, imported: _Imported) -> str:
    """Return the module that defines a name which a package hands on, as far as the importing module tells."""
    content: Any = vars(sys.modules.get(module, object)).get(imported.alias)
    home = getattr(content, "__module__", None)
    return home if isinstance(home, str) else ""


def _reached(module: str, file: Path) -> Iterator[tuple[str, Path]]:
    """Return the modules that one imports, with their sources."""
    own = module.split(".")[0]
    for imported in _imports(file):
        origin = _absolute(imported.origin, module, file)
        if not _is_followed(origin.split(".")[0], own):
            continue
        names = [origin, f"{origin}.{imported.name}" if imported.name else ""]
        found = _file_of(origin)
        if found is not None and found.name == "__init__.py":
            names.append(_home_of(module, imported))
        for name in names:
            source = _file_of(name) if name else None
            if source is not None:
                yield name, source


def reached_from(module: str, file: Path) -> dict[str, Path]:
    """Return the sources that a module can reach, the module's own included, by module."""
    seen = {file: module}
    left = [(module, file)]
    while left:
        for name, source in _reached(*left.pop()):
            if source not in seen:
                seen[source] = name
                left.append((name, source))
    return {name: source for source, name in seen.items()}


@cache
def digest_of(module: str, file: Path) -> str:
    """Return a digest of the sources that a module can reach.

    Parameters
    ----------
    module : str
        Its name; it must be loaded, or about to be.
    file : Path
        Its source.

    Returns
    -------
    str
        Sixteen hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, source in sorted(reached_from(module, file).items()):
        digest.update(f"{name}\0".encode())
        digest.update(_text(source).encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()[:16]
