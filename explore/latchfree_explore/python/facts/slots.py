"""Attributes that a descriptor in C keeps: slots, ``__dict__``, ``__class__``, and what objects of libraries in C hold.

Such an attribute is a place of the object. Two of them stand for more: an object with another ``__dict__`` has other
attributes, one with another ``__class__`` other methods.
"""

from __future__ import annotations

import types
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.core.undo import is_slot as is_in_c
from latchfree_explore.python.facts import effects, whole

NAMESPACE: Final = "__dict__"
CLASS: Final = "__class__"
SETTERS: Final[dict[Any, int]] = {
    **{kind.__setattr__: 3 for kind in (object, type)},
    **{kind.__delattr__: 2 for kind in (object, type)},
}
"""Functions in C that change an attribute whatever the class says, and how many arguments they take."""


def is_slot(held: tuple[type, Any]) -> bool:
    """Return whether a class and what it has are a place in its objects; locks and tasks tell their accesses."""
    if isinstance(held[1], types.MemberDescriptorType):
        return True
    return is_in_c(held[1]) and not whole.is_controlled(held[0])


def is_part(held: tuple[type, Any], value: Any) -> bool:
    """Return whether a slot shows a part of an object that a library in C changes in other ways, too."""
    if isinstance(held[1], types.MemberDescriptorType) or isinstance(value, (*whole.IMMUTABLE, *effects.KINDS)):
        return False
    kind: Any = type(value)
    identity = kind.__hash__ is None or kind.__hash__ is object.__hash__ or type(kind).__module__ == "_ctypes"
    return identity and held[0].__module__ not in ("builtins", "numpy")


def wrote_slot(run: Run, owner: Any, name: str, new: Any) -> None:
    """Record that a slot was given a value, with all that hangs upon it."""
    run.record(owner, "state", WRITE)
    if name == NAMESPACE:
        run.constants.expose(type(owner))
    elif name == CLASS and isinstance(new, type):
        run.constants.recasts(type(owner), new)


def touch_namespace(run: Run, owner: Any, name: str, operation: str) -> None:
    """Record that an attribute is an item of the object's ``__dict__``, which some run has asked for."""
    namespace = owner.__dict__
    run.record(owner, NAMESPACE, READ)
    if operation in ("__setitem__", "__delitem__") and not run.names.is_born(namespace):
        run.undo.item(namespace, name)
    for part, kind in effects.of(namespace, operation, (name,)):
        run.record(namespace, part, kind)


def keep_item(undo: Undo, owner: Any, name: str) -> None:
    """Save an attribute where it is an item of a ``__dict__`` that an object has got, while no schedule runs."""
    kind = type(owner)
    if CONTROL.exposed and name != NAMESPACE and (kind.__module__, kind.__qualname__) in CONTROL.exposed:
        namespace = owner.__dict__
        if not undo.is_made(namespace):
            undo.item(namespace, name)


def expose_before(owner: Any, name: str) -> None:
    """Note that an object gets a ``__dict__`` that may be that of others, while no schedule runs."""
    if name == NAMESPACE and not isinstance(owner, type):
        CONTROL.exposed.add((type(owner).__module__, type(owner).__qualname__))
