"""Hooks of variables of modules and closures: ``def`` and ``del``, and variables that have no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree_explore.python.core.names import HOOK
from latchfree_explore.python.hooks.state import told
from latchfree_explore.python.hooks.variables import (
    called_cell,
    cell,
    changes_cell,
    changes_variable,
    to_cell,
    to_variable,
)


def own_cell(reader: Callable[[], Any], line: int) -> Any:
    """Read a variable that functions inside capture, in the function whose variable it is.

    Raises
    ------
    UnboundLocalError
        If it has no value, as the interpreter does.
    """
    try:
        return cell(reader, line)
    except NameError:
        name = called_cell(reader)
    raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


def binds_variable(name: str, namespace: dict[str, Any], line: int) -> Callable[[Any], Any]:
    """Return a decorator that announces the writing of a variable of a module."""
    return lambda value: to_variable(value, name, namespace, line)


def binds_cell(reader: Callable[[], Any], line: int) -> Callable[[Any], Any]:
    """Return a decorator that announces the writing of a variable of a closure."""
    return lambda value: to_cell(value, reader, line)


def gone_variable(name: str, namespace: dict[str, Any], line: int) -> None:
    """Announce the deletion of a variable of a module."""
    run = changes_variable(name, namespace, line)
    if run is not None:
        told(run, line, f"delete {name}")


def gone_cell(reader: Callable[[], Any], line: int) -> None:
    """Announce the deletion of a variable of a closure."""
    run = changes_cell(reader, line)
    if run is not None:
        told(run, line, f"delete {called_cell(reader)}")


def visible(names: Any, line: int) -> Any:
    """Return what ``locals``, ``vars`` or ``dir`` has said, without the names of ours."""
    if isinstance(names, dict):
        for name in [each for each in names if isinstance(each, str) and each.startswith(HOOK)]:
            del names[name]
    elif isinstance(names, list):
        names[:] = [each for each in names if not each.startswith(HOOK)]
    return names
