"""A digest of the sources that a module can reach through its imports.

Invariant: if an edit can change the machine code of a kernel, then the edit changes the digest of the kernel's module,
or the module has no digest. A kernel can use only what its module defines or imports. So an edit of a page generator
leaves the digest of a search kernel as it was.

Example: ``mine.search`` imports ``mine.tables``, and ``mine.pages`` imports both. The digest of ``mine.search`` depends
on ``search.py`` and ``tables.py``, not on ``pages.py``.

The rules. Imports of latchfree, of the module's own top-level package and of other code that is not installed are
followed. Imports of the standard library, and imports for type checkers only, are not. An installed package counts with
the time of its installation. An import that can mean several modules means all of them: ``import package`` binds every
module of the package, a package with ``__getattr__`` hands on a name from any of its modules, and
``import_module(name)`` loads any module of the file's own package.

Not seen are the constants that a module computes from files, the clock or the environment, and the names that one
module writes into another.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from latchfree_support.statements import Statement, hands_on_lazily, statements, stub_names

#: What compiles: its versions are in every key (`latchfree.jit`).
_TOOLCHAIN = ("numba", "numpy", "llvmlite")

#: What finds keys: no kernel uses it.
_KEYS = (__name__, "latchfree_support.statements")

_INSTALLED = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) + "/" for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_STDLIB = _INSTALLED[:2]


class _UnknownSource(Exception):
    """What a module can reach cannot be told."""


class _Found(NamedTuple):
    """A module: its file, "" for a namespace package, and the folders of its submodules if it is a package."""

    file: str
    folders: tuple[str, ...] | None


def _began() -> int:
    """Return when this process began, or a little later, in nanoseconds since the epoch.

    Nothing that the process has loaded is older than its beginning; the tenth of a second allows for coarse clocks.
    """
    now = time.time_ns()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return min(now, now - age + 100_000_000)


_BEGAN = _began()


# where modules are ---------------------------------------------------------------------------------------------------


def _loaded(module: str) -> _Found | None:
    """Return where a loaded module comes from, if its source is a file."""
    content = sys.modules.get(module)
    file = getattr(content, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py") or not os.path.isfile(file):  # noqa: PTH113
        return None
    folders = getattr(content, "__path__", None)
    return _Found(file, None if folders is None else tuple(folders))


def _top(module: str) -> _Found | None:
    """Return where a top-level module is, found without importing anything; None for what has no file."""
    known = sys.modules.get(module)
    try:
        spec = getattr(known, "__spec__", None) or (None if known else find_spec(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise _UnknownSource(module) from error
    file = getattr(known, "__file__", None) or getattr(spec, "origin", None)
    folders = getattr(known, "__path__", None) or getattr(spec, "submodule_search_locations", None)
    if file in (None, "built-in", "frozen", "namespace"):
        return _Found("", tuple(folders)) if folders else None
    return _Found(str(file), None if folders is None else tuple(folders))


def _find(module: str) -> _Found | None:
    """Return where a module is, without importing anything; None if there is no such module."""
    found = _loaded(module)
    if found is not None:
        return found
    parent, _, name = module.rpartition(".")
    if not parent:
        return _top(module)
    package = _find(parent)
    spaces = []
    for folder in (package and package.folders) or ():
        if not os.path.isdir(folder):  # noqa: PTH112  (an archive, or a folder of an import hook)
            raise _UnknownSource(folder)
        base = os.path.join(folder, name)  # noqa: PTH118
        for path, folders in ((f"{base}/__init__.py", (base,)), (f"{base}.py", None)):
            if os.path.isfile(path):  # noqa: PTH113
                return _Found(path, folders)
        if os.path.isdir(base):  # noqa: PTH112
            spaces.append(base)
    return _Found("", tuple(spaces)) if spaces else None


@cache
def _is_standard(top: str) -> bool:
    """Return whether a top-level module is part of Python; a file of the same name in a user's folder is not."""
    if top not in sys.stdlib_module_names:
        return False
    found = _top(top)
    return found is None or found.file.startswith(_STDLIB) or not found.file.endswith(".py")


def _is_followed(top: str, own: str) -> bool:
    if top == own or top.split("_")[0] == "latchfree":
        return True
    found = _top(top)
    places = [found.file, *(found.folders or ())] if found else []
    return any(place and not str(Path(place).resolve()).startswith(_INSTALLED) for place in places)


# what they import ----------------------------------------------------------------------------------------------------


class _Text(NamedTuple):
    """A source as it was read: what tells its versions apart, its digest, and its imports."""

    signature: tuple[int, int, int]
    digest: str
    statements: tuple[Statement, ...]
    lazy: bool


_texts: dict[str, _Text] = {}


def _signature(file: str) -> tuple[int, int, int]:
    status = os.stat(file)  # noqa: PTH116
    return status.st_ctime_ns, status.st_size, status.st_ino


def _read(file: str) -> _Text:
    """Return a source as it was when it was read first, or since `digest_of` saw that it changed."""
    known = _texts.get(file)
    if known is None:
        signature = _signature(file)
        content = Path(file).read_bytes()
        try:
            imported, lazy = statements(content), hands_on_lazily(content)
        except (SyntaxError, ValueError) as error:
            raise _UnknownSource(file) from error
        known = _texts[file] = _Text(signature, hashlib.sha256(content).hexdigest(), imported, lazy)
    return known


def _below(package: str, folders: tuple[str, ...]) -> Iterator[str]:
    """Return the modules in the folders of a package."""
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112
            raise _UnknownSource(folder)
        for file in Path(folder).rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _bound(module: str) -> Iterator[str]:
    """Return a module that is bound to a name, and, if it is a package, the modules that the name leads to."""
    yield module
    found = _find(module)
    if found is not None and found.folders is not None:
        yield from _below(module, found.folders)


def _absolute(origin: str, module: str, *, package: bool) -> str:
    """Return the name of a module that `module` names relative to itself."""
    dots = len(origin) - len(origin.lstrip("."))
    if not dots:
        return origin
    parts = module.split(".")
    if dots >= len(parts) + package:
        raise _UnknownSource(module)  # relative to a package whose name is not known, as a script has none
    base = parts[: len(parts) - dots + package]
    return ".".join([*base, *filter(None, [origin.lstrip(".")])])


def _handed_on(origin: str, found: _Found, name: str) -> Iterator[str]:
    """Return the modules that can define a name which is imported from a module."""
    inner = f"{origin}.{name}"
    if name == "*":
        if found.folders is not None:  # `__all__` may name submodules
            yield from _below(origin, found.folders)
        return
    if found.folders is not None and _find(inner) is not None:
        yield from _bound(inner)
    if not found.file or not _read(found.file).lazy:
        return
    stub = Path(found.file).with_suffix(".pyi")
    homes = stub_names(stub.read_bytes(), name) if stub.is_file() else []
    for home in homes:
        yield from _bound(_absolute(home, origin, package=found.folders is not None))
    if not homes:
        yield from _below(origin, found.folders or ())


def _imports(module: str, found: _Found) -> list[str]:
    """Return the modules that one imports, by their full names; some are only attributes of modules."""
    text = _read(found.file)
    known = _edges.get((module, found.file))
    if known is None or known[0] is not text:
        own = module.split(".")[0]
        names = (
            name
            for statement in text.statements
            for name in _meant(statement, module, own, package=found.folders is not None)
        )
        known = _edges[module, found.file] = text, list(dict.fromkeys(names))
    return known[1]


_edges: dict[tuple[str, str], tuple[_Text, list[str]]] = {}


def _meant(statement: Statement, module: str, own: str, *, package: bool) -> Iterator[str]:
    """Return the modules that a statement of a module can mean."""
    if statement.origin == "*":  # chosen at run time
        yield from _bound(own)
        return
    origin = _absolute(statement.origin, module, package=package)
    yield origin
    top = origin.split(".")[0]
    if top in _TOOLCHAIN or _is_standard(top) or not _is_followed(top, own):
        return
    if not statement.name:
        yield from _bound(statement.binds or origin)
        return
    home = _find(origin)
    if home is not None:
        yield from _handed_on(origin, home, statement.name)


def _real_name(module: str) -> str:
    """Return the name of a module that runs as ``__main__`` by ``python -m``."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return getattr(spec, "name", module) if module in ("__main__", "__mp_main__") else module


def _reach(module: str, file: Path) -> tuple[dict[str, str], set[str]]:
    """Return the sources that a module can reach, by module, and the top-level packages that are not followed."""
    module = _real_name(module)
    own = module.split(".")[0]
    found = _find(module) if module not in ("__main__", "__mp_main__") else None
    is_package = file.name == "__init__.py" or bool(found and found.folders and Path(found.file).resolve() == file)
    start = _Found(str(file), (str(file.parent),) if is_package else None)
    reached, installed, seen = {module: str(file)}, set(), {module}
    left = [(module, start)]
    if found is not None and found.file and Path(found.file).resolve() != file.resolve():
        left.append((module, found))  # the function says that it is of one module, and was written in another file
        reached[f"{module} (loaded)"] = found.file
    while left:
        for name in _imports(*left.pop()):
            top = name.split(".")[0]
            if name in seen or name in _KEYS or top in _TOOLCHAIN or _is_standard(top):
                continue
            seen.add(name)
            if not _is_followed(top, own):
                installed.add(top)
                continue
            found = _find(name)
            if found is None or not found.file:
                continue
            if found.file.endswith(tuple(EXTENSION_SUFFIXES)):
                installed.add(top)
            elif not found.file.endswith(".py"):
                raise _UnknownSource(found.file)
            else:
                reached[name] = found.file
                left.append((name, found))
    return reached, installed


def reached_from(module: str, file: Path) -> dict[str, Path]:
    """Return the sources that a module can reach, the module's own included, by module."""
    return {name: Path(source) for name, source in _reach(module, file)[0].items()}


# digests -------------------------------------------------------------------------------------------------------------


class _Known(NamedTuple):
    """What was found out about a module: the sources, as they were then, and their digest."""

    sources: list[tuple[str, str, tuple[int, int, int]]]
    digest: str


_known: dict[tuple[str, Path], _Known] = {}


def _is_as_loaded(module: str, file: str, changed: int, unchanging: str) -> bool:
    """Return whether the code that runs is of the source that is in the file now.

    A file that changed after the process began can be newer than the module: the module was loaded before, and not
    again, or it was loaded again and its old functions are still there. While a module is being imported, or if it was
    not imported yet, the file is what counts.
    """
    if changed <= _BEGAN or (unchanging and file.startswith(unchanging)):
        return True
    content = sys.modules.get(module)
    return content is None or bool(getattr(getattr(content, "__spec__", None), "_initializing", False))


def _state_of(package: str) -> str:
    """Return what tells installations of a package apart."""
    found = _top(package)
    if found is None:
        return "missing"
    places = [found.file] if found.file else list(found.folders or ())
    status = [os.stat(place) for place in places if os.path.exists(place)]  # noqa: PTH110, PTH116
    return repr([(s.st_mtime_ns, s.st_size) for s in status])


def digest_of(module: str, file: Path, unchanging: str = "") -> str:
    """Return a digest of the sources that a module can reach.

    Parameters
    ----------
    module : str
        Name of the module, which is loaded, or about to be.
    file : Path
        Source of the module.
    unchanging : str, optional
        Folder of sources that nobody edits: what is there may be younger than this process.

    Returns
    -------
    str
        Sixteen hexadecimal digits; "" if nobody can tell which sources the loaded code has, or will have.
    """
    try:
        known = _known.get((module, file))
        if known is None or any(_signature(source) != signature for _, source, signature in known.sources):
            for _, source, _ in known.sources if known else ():
                if source in _texts and _texts[source].signature != _signature(source):
                    del _texts[source]
            reached, installed = _reach(module, file)
            sources = [(name, source, _read(source).signature) for name, source in sorted(reached.items())]
            known = _known[module, file] = _Known(sources, _digest(reached, installed))
        sure = all(_is_as_loaded(name, source, changed[0], unchanging) for name, source, changed in known.sources)
    except (_UnknownSource, OSError):
        return ""
    return known.digest if sure else ""


def _digest(reached: dict[str, str], installed: set[str]) -> str:
    lines = [f"{name} {_read(source).digest}" for name, source in sorted(reached.items())]
    lines += [f"{package} {_state_of(package)}" for package in sorted(installed)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]
