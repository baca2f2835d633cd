"""What is written while no schedule runs: by `setup`, by checks, by calls before and after. It is put back as well.

For example, a constructor that counts its objects in an attribute of its class would count those of all schedules.
There is nothing to schedule, so the hooks save what is about to be written, and do no more.
"""

from __future__ import annotations

import types
from typing import Any

from latchfree_explore.python.core.places import attributes
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.steps import READ
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.facts import effects
from latchfree_explore.python.facts.slots import SETTERS
from latchfree_explore.python.facts.whole import IMMUTABLE, REWRITTEN, base_of, is_array, is_controlled
from latchfree_explore.python.hooks import touched
from latchfree_explore.python.hooks.state import keep


def items(value: Any, key: Any = None) -> None:
    """Save what an operation on the items of an object may change."""
    if CONTROL.undo is None:
        return
    if type(value) is dict and "__builtins__" in value:
        if isinstance(key, str):
            CONTROL.undo.item(value, key)
    else:
        _whole(CONTROL.undo, value)


def call(function: Any, args: tuple[Any, ...]) -> None:
    """Save what a call of code that is not rewritten may change."""
    if CONTROL.undo is None or not _may_change(function, args):
        return
    if (touched.hashable(function) and function in (setattr, delattr)) or _is_setter(function):
        if len(args) > 1 and isinstance(args[1], str):
            keep(args[0], args[1])
        return
    for owner in touched.object_of(function, args):
        _whole(CONTROL.undo, owner)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, effects.KINDS):
        items(function.__self__, *args[:1])
    elif not touched.hashable(function) or (function not in touched.READERS and not isinstance(function, type)):
        for each in args:
            if isinstance(each, effects.KINDS):
                _whole(CONTROL.undo, each)


def made(value: Any) -> None:
    """Note that a class has made an object, or the program a container: it is nothing older."""
    if CONTROL.undo is not None and not isinstance(value, IMMUTABLE):
        CONTROL.undo.made(value)


def _may_change(function: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a function is no code that tells what it writes, and no method that only reads."""
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, effects.KINDS):
        return any(kind != READ for _, kind in effects.of(function.__self__, function.__name__, args))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return id(code) not in REWRITTEN


def _is_setter(function: Any) -> bool:
    return isinstance(function, types.WrapperDescriptorType) and function in SETTERS


def _whole(undo: Undo, value: Any) -> None:
    """Save an object: the items of a container, or attributes and the containers that they hold."""
    value = base_of(value)
    if undo.is_made(value):
        return
    if isinstance(value, effects.KINDS):
        undo.container(value)
        return
    if isinstance(value, IMMUTABLE) or is_controlled(type(value)):
        return
    for name, each in list(attributes(value)):
        undo.attribute(value, name)
        if isinstance(each, effects.KINDS) and not undo.is_made(each):
            undo.container(each)
    if is_array(value):
        undo.array(value)
