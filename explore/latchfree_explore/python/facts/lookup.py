"""Where an attribute is looked for, and who holds it: an object, one of its classes, or the variables of a module."""

from __future__ import annotations

import threading
import types
from typing import Any, Final

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.facts import proxies, whole
from latchfree_explore.python.facts.slots import is_slot

_METHODS: Final = (
    types.FunctionType, staticmethod, classmethod, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.ClassMethodDescriptorType, types.MethodType,
)  # fmt: skip
MISSING: Final = object()
LOCAL: Final = threading.local


def stands_for(value: Any, name: str) -> Any:
    """Return the object whose attribute is meant: that behind a proxy, else the value itself.

    Raises
    ------
    ReferenceError
        If it is gone.
    """
    kind = proxies.kind_of(value)
    if kind == proxies.WEAK:
        return value.__reduce_ex__.__self__
    if kind == proxies.GENERIC and not name.startswith("_"):
        return value.__origin__  # `G[int].n` is `G.n`
    own = kind != proxies.WRAPPER or name.startswith(("_self_", "__"))
    return value if own or class_attribute(type(value), name) is not MISSING else value.__wrapped__


def owner_of(value: Any, name: str) -> Any:
    """Return the object that holds an attribute, None if it is a method, a property or part of a module."""
    if isinstance(value, types.ModuleType):
        return None
    if isinstance(value, type | super):
        for cls in _looked_through(value):
            held = cls.__dict__.get(name, MISSING)
            if held is not MISSING:
                return None if isinstance(held, _METHODS) or hasattr(type(held), "__get__") or _foreign(cls) else cls
        return None
    held = class_attribute(type(value), name)
    if held is MISSING:
        return value
    if is_slot(held):
        return value
    if hasattr(type(held[1]), "__set__"):
        return None
    if shadows(value, name):
        return value
    return None if hasattr(type(held[1]), "__get__") or _foreign(held[0]) else held[0]


def _looked_through(value: Any) -> tuple[type, ...]:
    """Return the classes in which an attribute is looked for, in order."""
    if isinstance(value, super):
        bound: Any = value
        classes: tuple[type, ...] = bound.__self_class__.__mro__
        return classes[classes.index(bound.__thisclass__) + 1 :]
    return value.__mro__ if isinstance(value, type) else type(value).__mro__


def places(value: Any, name: str) -> list[Any]:
    """Return where an attribute is looked for: the object, and each class up to the one that has the attribute."""
    if isinstance(value, types.ModuleType):
        return [vars(value)]
    found: list[Any] = []
    if not isinstance(value, type | super):
        held = class_attribute(type(value), name)
        if held is MISSING or is_slot(held):
            return [value]
        if not hasattr(type(held[1]), "__set__"):
            found.append(value)
            if shadows(value, name):
                return found
    for cls in _looked_through(value):
        if not _foreign(cls):
            found.append(cls)
        if name in cls.__dict__:
            break
    return found


def module_key(namespace: dict[str, Any]) -> str:
    """Return what stands for all variables of a module among the names that are written, or are not."""
    return f"{module_name(namespace)}."


def module_name(namespace: dict[str, Any]) -> str:
    """Return what the module is called whose variables a dictionary holds."""
    return str(namespace.get("__name__"))


def shadows(value: Any, name: str) -> bool:
    """Return whether an object keeps an attribute itself, whatever its class has."""
    if type(value).__dictoffset__ == 0 and not isinstance(value, LOCAL):
        return False  # such as what `super()` returns, whose `__dict__` is that of something else
    namespace = getattr(value, "__dict__", None)
    return isinstance(namespace, dict) and name in namespace


def class_attribute(kind: type, name: str) -> Any:
    """Return the class that has an attribute, and the attribute; a marker if there is none."""
    for cls in kind.__mro__:
        namespace = cls.__dict__
        if name in namespace:
            return cls, namespace[name]
    return MISSING


def answers(run: Run, kind: type) -> bool:
    """Return whether a class has code of its own, not rewritten, that answers for every attribute of its objects."""
    known = run.constants.foreign.get((kind, "__getattribute__"))
    if known is None:
        held = class_attribute(kind, "__getattribute__")
        known = held is not MISSING and isinstance(held[1], types.FunctionType) and not whole.is_controlled(kind)
        known = run.constants.foreign[kind, "__getattribute__"] = known and not issubclass(kind, LOCAL)
    return known


def _foreign(cls: type) -> bool:
    return cls.__module__ in ("builtins", "_thread", "threading", "queue", "collections")
