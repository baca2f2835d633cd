"""``list.sort`` with a key in Python: CPython keeps the list empty while the key is asked, and others may see that."""

from __future__ import annotations

import functools
import types
from typing import Any

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.facts import effects
from latchfree_explore.python.hooks.announce import touch
from latchfree_explore.python.hooks.state import told


def asks_the_program(owner: list[Any], kwargs: dict[str, Any]) -> bool:
    """Return whether sorting calls a function in Python, so that others may come in between."""
    key = kwargs.get("key")
    while type(key) is functools.partial:
        key = key.func
    return len(owner) > 0 and isinstance(key, types.FunctionType | types.MethodType)


def sort(run: Run, line: int, owner: list[Any], kwargs: dict[str, Any]) -> None:
    """Sort a list: take its items, sort them, and give them back.

    Raises
    ------
    ValueError
        If somebody has changed the list meanwhile; what was added is lost.
    """
    run.at(line)
    touch(run, owner, effects.CHANGES)
    if run.telling:
        told(run, line, f"{called(run.roots, owner)}.sort(), empty meanwhile")
    items = list.copy(owner)
    list.clear(owner)
    try:
        items.sort(**kwargs)
    finally:
        if CONTROL.run is run:
            run.at(line)
            touch(run, owner, effects.CHANGES)
            if run.telling:
                told(run, line, f"{called(run.roots, owner)} is sorted")
        changed = len(owner) > 0
        list.__setitem__(owner, slice(None), items)
    if changed:
        raise ValueError("list modified during sort")
