"""Hooks of accesses to attributes, variables of modules and variables of closures."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.places import called, caller
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import PROBE, READ, WRITE
from latchfree_explore.python.hooks import effects, whole
from latchfree_explore.python.library.twins import twin

_METHODS: Final = (
    types.FunctionType, staticmethod, classmethod, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.ClassMethodDescriptorType, types.MethodType,
)  # fmt: skip
_MISSING: Final = object()
_LOCAL: Final = threading.local


def told(run: Run, line: int, words: str) -> None:
    """Add the words for an access of the code that is explored."""
    run.tell(caller()[0], line, words)


def short(value: Any) -> str:
    """Return a value as text for people, one short line."""
    run, CONTROL.run = CONTROL.run, None
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    finally:
        CONTROL.run = run
    return text if len(text) <= 40 else text[:37] + "..."


def owner_of(value: Any, name: str) -> Any:
    """Return the object that holds an attribute, None if it is a method, a property or part of a module."""
    if isinstance(value, types.ModuleType):
        return None
    if isinstance(value, type):
        for cls in value.__mro__:
            held = cls.__dict__.get(name, _MISSING)
            if held is not _MISSING:
                return None if isinstance(held, _METHODS) or hasattr(type(held), "__get__") or _foreign(cls) else cls
        return None
    held = class_attribute(type(value), name)
    if held is _MISSING:
        return value
    if isinstance(held[1], types.MemberDescriptorType):
        return value
    if hasattr(type(held[1]), "__set__"):
        return None
    if shadows(value, name):
        return value
    return None if hasattr(type(held[1]), "__get__") or _foreign(held[0]) else held[0]


def shadows(value: Any, name: str) -> bool:
    """Return whether an object keeps an attribute itself, whatever its class has."""
    if type(value).__dictoffset__ == 0 and not isinstance(value, _LOCAL):
        return False  # such as what `super()` returns, whose `__dict__` is that of something else
    namespace = getattr(value, "__dict__", None)
    return isinstance(namespace, dict) and name in namespace


def class_attribute(kind: type, name: str) -> Any:
    """Return the class that has an attribute, and the attribute; a marker if there is none."""
    for cls in kind.__mro__:
        namespace = cls.__dict__
        if name in namespace:
            return cls, namespace[name]
    return _MISSING


def answers(run: Run, kind: type) -> bool:
    """Return whether a class has code of its own, not rewritten, that answers for every attribute of its objects."""
    known = run.constants.foreign.get((kind, "__getattribute__"))
    if known is None:
        held = class_attribute(kind, "__getattribute__")
        known = held is not _MISSING and isinstance(held[1], types.FunctionType) and not whole.is_controlled(kind)
        known = run.constants.foreign[kind, "__getattribute__"] = known and not issubclass(kind, _LOCAL)
    return known


def _foreign(cls: type) -> bool:
    return cls.__module__ in ("builtins", "_thread", "threading", "queue", "collections")


def get(value: Any, name: str, line: int) -> Any:
    """Read an attribute."""
    run = CONTROL.run
    value = twin(value)
    if run is None:
        return twin(getattr(value, name))
    plain = (type(value), name)
    if plain in run.plain:
        owner = value
    elif answers(run, type(value)):
        run.poll()
        run.at(line)
        before = whole.change(run, value)
        if run.telling:
            told(run, line, f"ask {called(run.roots, value)} for {name}")
        found = getattr(value, name)
        whole.changed(run, value, before)
        return twin(found)
    else:
        owner = owner_of(value, name)
        if owner is value and isinstance(value, _LOCAL):  # nobody else sees it
            return twin(getattr(value, name))
        if owner is value and not isinstance(value, type) and class_attribute(*plain) is _MISSING:
            run.plain.add(plain)
    if name == "__dict__":
        run.constants.expose(type(value))
    lock = _lock_of(value)
    exposed = type(owner) in run.constants.exposed
    if lock is None and (owner is None or (not exposed and run.constants.constant(name))):
        return twin(getattr(value, name))
    run.at(line)
    if lock is not None:
        run.record(lock, "lock", PROBE)
    found = getattr(value, name, _MISSING)
    run.record(owner, name, READ)
    if exposed:
        touch_namespace(run, owner, name, "__getitem__")
    if run.telling:
        what = "nothing there" if found is _MISSING else short(found)
        told(run, line, f"read {called(run.roots, owner)}.{name}: {what}")
    return twin(getattr(value, name) if found is _MISSING else found)


def put(new: Any, owner: Any, name: str, line: int) -> None:
    """Write an attribute."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        CONTROL.class_changed = CONTROL.class_changed or isinstance(owner, type)
        setattr(owner, name, new)
        return
    plain = (type(owner), name)
    if plain not in run.plain:
        held = class_attribute(*plain)
        if held is not _MISSING and hasattr(type(held[1]), "__set__") and not _is_slot(held[1]):
            setattr(owner, name, new)
            return
        if isinstance(owner, _LOCAL):
            setattr(owner, name, new)
            return
        if isinstance(owner, type):
            run.forget_classes()
        elif held is _MISSING and not answers(run, plain[0]):
            run.plain.add(plain)
    run.at(line)
    if not run.names.is_born(owner):
        run.undo.attribute(owner, name)
    run.constants.wrote(name)
    run.record(owner, name, WRITE)
    if type(owner) in run.constants.exposed:
        touch_namespace(run, owner, name, "__setitem__")
    if run.telling:
        told(run, line, f"write {called(run.roots, owner)}.{name} = {short(new)}")
    setattr(owner, name, new)


def _is_slot(held: Any) -> bool:
    return isinstance(held, types.MemberDescriptorType)


def delete(owner: Any, name: str, line: int) -> None:
    """Delete an attribute."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        CONTROL.class_changed = CONTROL.class_changed or isinstance(owner, type)
    else:
        if isinstance(owner, type):
            run.forget_classes()
        run.at(line)
        run.undo.attribute(owner, name)
        run.constants.wrote(name)
        run.record(owner, name, WRITE)
        if type(owner) in run.constants.exposed:
            touch_namespace(run, owner, name, "__delitem__")
        if run.telling:
            told(run, line, f"delete {called(run.roots, owner)}.{name}")
    delattr(owner, name)


def _lock_of(value: Any) -> Any:
    """Return the lock that guards the attributes of a queue or semaphore under control, None of anything else."""
    if type(value).__module__ not in ("queue", "threading"):
        return None
    held = object.__getattribute__(value, "__dict__") if type(value).__dictoffset__ else {}
    return held.get("mutex") or getattr(held.get("_cond"), "_lock", None)


def touch_namespace(run: Run, owner: Any, name: str, operation: str) -> None:
    """Record that an attribute is an item of the object's ``__dict__``, which some run has asked for."""
    namespace = owner.__dict__
    for part, kind in effects.of(namespace, operation, (name,)):
        run.record(namespace, part, kind)


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
    run = CONTROL.run
    if run is not None:
        run.at(line)
        run.undo.item(namespace, name)
        run.constants.wrote(name)
        run.record(namespace, name, WRITE)
        if run.telling:
            told(run, line, f"write {name} = {short(new)}")
    return new


def cell(reader: Callable[[], Any], line: int) -> Any:
    """Read a variable of a closure."""
    run = CONTROL.run
    held = reader.__closure__
    if run is not None and held and not run.constants.constant(_called_cell(reader)):
        run.at(line)
        run.record(held[0], "value", READ)
        if run.telling:
            told(run, line, f"read {_called_cell(reader)}: {short(reader())}")
    return twin(reader())


def to_cell(new: Any, reader: Callable[[], Any], line: int) -> Any:
    """Announce the writing of a variable of a closure; return the value, which is then assigned."""
    run = CONTROL.run
    if run is not None and reader.__closure__:
        held = reader.__closure__[0]
        run.at(line)
        run.undo.cell(held)
        run.constants.wrote(_called_cell(reader))
        run.record(held, "value", WRITE)
        if run.telling:
            told(run, line, f"write {_called_cell(reader)} = {short(new)}")
    return new


def _called_cell(reader: Callable[[], Any]) -> str:
    names: tuple[str, ...] = reader.__code__.co_freevars
    return names[0]
