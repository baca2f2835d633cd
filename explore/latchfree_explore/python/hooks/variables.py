"""Hooks of accesses to variables of modules and variables of closures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.facts.lookup import module_key
from latchfree_explore.python.hooks.state import short, told
from latchfree_explore.python.library.twins import twin


def variable(name: str, namespace: dict[str, Any], line: int) -> Any:
    """Read a variable of a module."""
    run = CONTROL.run
    if run is not None and not run.constants.constant(name):
        run.at(line)
        run.record(namespace, name, READ)
        if run.telling:
            told(run, line, f"read {name}: {short(namespace.get(name))}")
    if name in namespace:
        return twin(namespace[name])
    builtins = namespace["__builtins__"]
    held: dict[str, Any] = builtins if isinstance(builtins, dict) else vars(builtins)
    if name not in held:
        raise NameError(f"name {name!r} is not defined", name=name)
    return held[name]


def to_variable(new: Any, name: str, namespace: dict[str, Any], line: int) -> Any:
    """Announce the writing of a variable of a module; return the value, which is then assigned."""
    run = changes_variable(name, namespace, line)
    if run is not None:
        told(run, line, f"write {name} = {short(new)}")
    return new


def changes_variable(name: str, namespace: dict[str, Any], line: int) -> Run | None:
    """Announce a change of a variable of a module; return the run if it is to be told in words."""
    run = CONTROL.run
    if run is None:
        if CONTROL.undo is not None:
            CONTROL.undo.item(namespace, name)
        return None
    run.at(line)
    run.undo.item(namespace, name)
    run.constants.wrote(name)
    run.constants.wrote(module_key(namespace))
    run.record(namespace, name, WRITE)
    return run if run.telling else None


def cell(reader: Callable[[], Any], line: int) -> Any:
    """Read a variable of a closure."""
    run = CONTROL.run
    held = reader.__closure__
    if run is not None and held and not run.constants.constant(called_cell(reader)):
        run.at(line)
        run.record(held[0], "value", READ)
        if run.telling:
            told(run, line, f"read {called_cell(reader)}: {short(reader())}")
    return twin(reader())


def to_cell(new: Any, reader: Callable[[], Any], line: int) -> Any:
    """Announce the writing of a variable of a closure; return the value, which is then assigned."""
    run = changes_cell(reader, line)
    if run is not None:
        told(run, line, f"write {called_cell(reader)} = {short(new)}")
    return new


def changes_cell(reader: Callable[[], Any], line: int) -> Run | None:
    """Announce a change of a variable of a closure; return the run if it is to be told in words."""
    run = CONTROL.run
    if not reader.__closure__:
        return None
    held = reader.__closure__[0]
    if run is None:
        keep_cell(held)
        return None
    run.at(line)
    run.undo.cell(held)
    run.constants.wrote(called_cell(reader))
    run.record(held, "value", WRITE)
    return run if run.telling else None


def called_cell(reader: Callable[[], Any]) -> str:
    """Return the name of a variable of a closure."""
    names: tuple[str, ...] = reader.__code__.co_freevars
    return names[0]


def keep_cell(held: Any) -> None:
    """Save a variable of a closure that is about to be written while no schedule runs."""
    undo = CONTROL.undo
    if undo is None or undo.is_made(held):
        return
    try:
        held.cell_contents  # noqa: B018 (an empty one has just been made)
    except ValueError:
        undo.made(held)
    else:
        undo.cell(held)
