"""Packages that only some parts need: loaded at first use, and named with their extra if missing.

The map alone runs on numba and NumPy. A part that needs more asks here, so that the error for a missing package is one
line with the command that installs it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from latchfree.errors import MissingExtra


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
