"""Hooks of accesses to attributes, variables of modules and variables of closures."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.places import attributes, called, caller
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import PROBE, READ, WRITE
from latchfree_explore.python.hooks import caches, effects, whole
from latchfree_explore.python.hooks.lookup import (
    LOCAL,
    MISSING,
    answers,
    class_attribute,
    is_slot,
    module_key,
    module_name,
    owner_of,
    places,
)
from latchfree_explore.python.library.twins import twin

_PROXIES: Final = (weakref.ProxyType, weakref.CallableProxyType)
CODE: Final = "()"
"""What stands at a name where it is that of a method or a property."""


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


def varies(run: Run, value: Any, name: str) -> bool:
    """Return whether somebody writes an attribute: else, reading it is no step."""
    constants = run.constants
    if isinstance(value, types.ModuleType):
        return not (constants.constant(module_key(vars(value))) or constants.constant(name))
    return not constants.constant(name if owner_of(value, name) is not None else name + CODE)


def _writes(run: Run, owner: Any, name: str, held: Any) -> Any:
    """Note that a run writes an attribute; return the place that is written."""
    run.constants.wrote(name)
    if isinstance(owner, types.ModuleType):
        run.constants.wrote_variable(module_name(vars(owner)), name)
        return vars(owner)
    if isinstance(owner, type) or held is not MISSING:
        run.constants.wrote(name + CODE)  # it may take the place of a method
    return owner


def get(value: Any, name: str, line: int) -> Any:
    """Read an attribute."""
    run = CONTROL.run
    value = twin(value)
    if run is None:
        return twin(getattr(value, name))
    kind = type(value)
    constants = run.constants
    exposed = bool(constants.exposed) and constants.exposes(kind)
    plain = (kind, name)
    own = plain in run.plain
    if own:
        constant = not exposed and constants.constant(name)
    else:
        if answers(run, kind):
            return _answered(run, value, name, line)
        if isinstance(value, _PROXIES):
            return get(_referent(value), name, line)
        held = class_attribute(*plain)
        if held is not MISSING and caches.is_computed_once(value, name, held[1]):
            return caches.cached(run, value, name, held[1], line)
        owner = owner_of(value, name)
        if owner is value and isinstance(value, LOCAL):  # nobody else sees it
            return twin(getattr(value, name))
        if owner is value and held is MISSING and not isinstance(value, type):
            run.plain.add(plain)
            own = True
        exposed = exposed and owner is not None
        constant = not exposed and not varies(run, value, name)
    if name == "__dict__":
        constants.expose(kind)
    lock = _lock_of(value)
    if constant and lock is None:
        return twin(getattr(value, name))
    run.at(line)
    if lock is not None:
        run.record(lock, "lock", PROBE)
    if own:
        run.record(value, name, READ)
    else:
        for place in places(value, name):
            run.record(place, name, READ)
    if exposed:
        touch_namespace(run, value, name, "__getitem__")
    try:
        found = getattr(value, name)
    except AttributeError:
        if run.telling:
            told(run, line, f"read {called(run.roots, value)}.{name}: nothing there")
        raise
    if run.telling:
        told(run, line, f"read {called(run.roots, value)}.{name}: {short(found)}")
    return twin(found)


def _answered(run: Run, value: Any, name: str, line: int) -> Any:
    """Ask an object whose class answers for all attributes."""
    run.poll()
    run.at(line)
    before = whole.change(run, value)
    if run.telling:
        told(run, line, f"ask {called(run.roots, value)} for {name}")
    found = getattr(value, name)
    whole.changed(run, value, before)
    return twin(found)


def _referent(proxy: Any) -> Any:
    """Return the object that a weak proxy stands for.

    Raises
    ------
    ReferenceError
        If it is gone.
    """
    return proxy.__reduce_ex__.__self__


def put(new: Any, owner: Any, name: str, line: int) -> None:
    """Write an attribute."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        CONTROL.class_changed = CONTROL.class_changed or isinstance(owner, type)
        keep(owner, name)
        setattr(owner, name, new)
        return
    plain = (type(owner), name)
    place = owner
    if plain in run.plain:
        run.constants.wrote(name)
    else:
        if isinstance(owner, _PROXIES):
            put(new, _referent(owner), name, line)
            return
        held = class_attribute(*plain)
        if _is_code(held) or isinstance(owner, LOCAL):
            setattr(owner, name, new)
            return
        if isinstance(owner, type):
            run.forget_classes()
        elif held is MISSING and not isinstance(owner, types.ModuleType) and not answers(run, plain[0]):
            run.plain.add(plain)
        place = _writes(run, owner, name, held)
    run.at(line)
    if not run.names.is_born(owner):
        run.undo.attribute(owner, name)
    run.record(place, name, WRITE)
    if run.constants.exposed and run.constants.exposes(plain[0]):
        touch_namespace(run, owner, name, "__setitem__")
    if run.telling:
        told(run, line, f"write {called(run.roots, owner)}.{name} = {short(new)}")
    setattr(owner, name, new)


def keep(owner: Any, name: str) -> None:
    """Save an attribute that is about to be written while no schedule runs; see `keeping`.

    An object that has no attribute at all has just been made.
    """
    undo = CONTROL.undo
    if undo is None or undo.is_made(owner) or isinstance(owner, (*_PROXIES, LOCAL)):
        return
    if not isinstance(owner, type | types.ModuleType) and next(attributes(owner), None) is None:
        undo.made(owner)
    elif not _is_code(class_attribute(type(owner), name)):
        undo.attribute(owner, name)


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


def _is_code(held: Any) -> bool:
    """Return whether writing an attribute is a call of what its class has, such as a property."""
    return held is not MISSING and hasattr(type(held[1]), "__set__") and not is_slot(held[1])


def delete(owner: Any, name: str, line: int) -> None:
    """Delete an attribute."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        CONTROL.class_changed = CONTROL.class_changed or isinstance(owner, type)
        keep(owner, name)
        delattr(owner, name)
        return
    if isinstance(owner, _PROXIES):
        owner = _referent(owner)
    held = class_attribute(type(owner), name)
    if _is_code(held) or isinstance(owner, LOCAL):
        delattr(owner, name)
        return
    if isinstance(owner, type):
        run.forget_classes()
    place = _writes(run, owner, name, held)
    run.at(line)
    run.undo.attribute(owner, name)
    run.record(place, name, WRITE)
    if run.constants.exposes(type(owner)):
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
