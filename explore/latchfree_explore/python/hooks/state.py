"""Hooks of accesses to attributes."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.places import attributes, called, caller
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import PROBE, READ, WRITE
from latchfree_explore.python.facts import slots, whole
from latchfree_explore.python.facts.lookup import (
    LOCAL,
    MISSING,
    answers,
    class_attribute,
    module_key,
    module_name,
    owner_of,
    places,
    stands_for,
)
from latchfree_explore.python.facts.slots import touch_namespace
from latchfree_explore.python.hooks import caches
from latchfree_explore.python.library.twins import twin

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
    if constants.is_recast(type(value)):
        return True
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
    slot = part = False
    if own:
        constant = not exposed and constants.constant(name)
    else:
        if answers(run, kind):
            return _answered(run, value, name, line)
        meant = stands_for(value, name)
        if meant is not value:
            return get(meant, name, line)
        held = class_attribute(*plain)
        if held is not MISSING:
            if caches.is_computed_once(value, name, held[1]):
                return caches.cached(run, value, name, held[1], line)
            if _is_computed_in_c(kind, held[1]):
                return _computed_in_c(run, value, held[1].fget, line)
            slot = not isinstance(value, type) and slots.is_slot(held)
            part = slot and slots.is_part(held, value)
        owner = owner_of(value, name)
        if owner is value and isinstance(value, LOCAL):  # nobody else sees it
            return twin(getattr(value, name))
        if owner is value and held is MISSING and not isinstance(value, type):
            run.plain.add(plain)
            own = True
        exposed = exposed and owner is not None and not slot
        constant = not exposed and not varies(run, value, name) and not part
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
        if part:
            run.record(value, "state", READ)
        if constants.is_recast(type(value)):
            run.record(value, slots.CLASS, READ)
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


def _is_computed_in_c(kind: type, held: Any) -> bool:
    """Return whether what a class has is a property whose function is one in C, such as an `operator.attrgetter`."""
    return (
        type(held) is property
        and held.fget is not None
        and not isinstance(held.fget, types.FunctionType)
        and class_attribute(kind, "__getattr__") is MISSING
    )


def _computed_in_c(run: Run, value: Any, getter: Any, line: int) -> Any:
    """Read a property whose function is one in C: the interpreter does not poll after it."""
    step, task = run.step, run.current
    polled = task is not None and task.polled
    found = CONTROL.call(line, getter, value)
    if task is not None and CONTROL.run is run and type(getter) is not functools.partial:
        task.polled = polled and run.step is step
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


def put(new: Any, owner: Any, name: str, line: int, change: Callable[[Any, str, Any], None] = setattr) -> None:
    """Write an attribute, with `setattr` or another function in C."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        keep(owner, name)
        slots.expose_before(owner, name)
        change(owner, name, new)
        return
    plain = (type(owner), name)
    place = owner
    slot = False
    if plain in run.plain:
        run.constants.wrote(name)
    else:
        meant = stands_for(owner, name)
        if meant is not owner:
            put(new, meant, name, line)
            return
        held = class_attribute(*plain)
        if _is_code(held) or isinstance(owner, LOCAL):
            change(owner, name, new)
            return
        slot = held is not MISSING and slots.is_slot(held)
        if isinstance(owner, type):
            run.forget_classes()
        elif held is MISSING and not isinstance(owner, types.ModuleType) and not answers(run, plain[0]):
            run.plain.add(plain)
        place = _writes(run, owner, name, held)
    run.at(line)
    if not run.names.is_born(owner):
        run.undo.attribute(owner, name)
    run.record(place, name, WRITE)
    if slot:
        slots.wrote_slot(run, owner, name, new)
    elif run.constants.exposed and run.constants.exposes(plain[0]):
        touch_namespace(run, owner, name, "__setitem__")
    if run.telling:
        told(run, line, f"write {called(run.roots, owner)}.{name} = {short(new)}")
    change(owner, name, new)


def keep(owner: Any, name: str) -> None:
    """Save an attribute that is about to be written while no schedule runs; see `keeping`.

    An object that has no attribute at all has just been made.
    """
    CONTROL.class_changed = CONTROL.class_changed or isinstance(owner, type)
    undo = CONTROL.undo
    owner = stands_for(owner, name)
    if undo is None or isinstance(owner, LOCAL):
        return
    slots.keep_item(undo, owner, name)
    if undo.is_made(owner):
        return
    kind: Any = type(owner)
    empty = kind.__dictoffset__ and next(attributes(owner), None) is None
    if empty and not isinstance(owner, type | types.ModuleType):
        undo.made(owner)
    elif not _is_code(class_attribute(type(owner), name)):
        undo.attribute(owner, name)


def _is_code(held: Any) -> bool:
    """Return whether writing an attribute is a call of what its class has, such as a property."""
    return held is not MISSING and hasattr(type(held[1]), "__set__") and not slots.is_slot(held)


def delete(owner: Any, name: str, line: int, change: Callable[[Any, str], None] = delattr) -> None:
    """Delete an attribute, with `delattr` or another function in C."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        keep(owner, name)
        change(owner, name)
        return
    owner = stands_for(owner, name)
    held = class_attribute(type(owner), name)
    if _is_code(held) or isinstance(owner, LOCAL):
        change(owner, name)
        return
    if isinstance(owner, type):
        run.forget_classes()
    place = _writes(run, owner, name, held)
    run.at(line)
    run.undo.attribute(owner, name)
    run.record(place, name, WRITE)
    if held is not MISSING and slots.is_slot(held):
        slots.wrote_slot(run, owner, name, None)
    elif run.constants.exposes(type(owner)):
        touch_namespace(run, owner, name, "__delitem__")
    if run.telling:
        told(run, line, f"delete {called(run.roots, owner)}.{name}")
    change(owner, name)


def _lock_of(value: Any) -> Any:
    """Return the lock that guards the attributes of a queue or semaphore under control, None of anything else."""
    if type(value).__module__ not in ("queue", "threading"):
        return None
    held = object.__getattribute__(value, "__dict__") if type(value).__dictoffset__ else {}
    return held.get("mutex") or getattr(held.get("_cond"), "_lock", None)
