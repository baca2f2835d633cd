"""Hooks of accesses to the items of built-in containers.

The event comes before the read or write at the level of C: ``iter(d)`` reads the size at once, so it is called after
the event. What is touched is found after the decision who goes on, since others may have changed the container.
"""

from __future__ import annotations

import operator
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, KeysView
from functools import cache
from typing import Any, Final

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.hooks import keeping
from latchfree_explore.python.hooks.announce import advance, enter, foreign, touch
from latchfree_explore.python.hooks.iterating import Items
from latchfree_explore.python.hooks.state import short, told
from latchfree_explore.python.library.twins import twin


def item(value: Any, key: Any, line: int) -> Any:
    """Read an item."""
    run = CONTROL.run
    if run is None:
        return twin(value[key])
    if effects.built_in(value, "__getitem__"):
        run.at(line)
        if isinstance(value, defaultdict) and key not in value and _makes_in_python(value):
            return _made_by_factory(run, value, key, line)
        touch(run, value, effects.of(value, "__getitem__", (key,)))
        if run.telling:
            told(run, line, f"read {called(run.roots, value)}[{short(key)}]")
        if isinstance(value, dict) and type(value) is not dict and key not in value:
            found = value[key]
            enter(run, value, "__missing__")
            return twin(found)
    elif foreign(run, value, line, "__getitem__"):
        whole.read(run, value)
    found = value[key]
    enter(run, value, "__getitem__")
    return twin(found)


def _makes_in_python(value: Any) -> bool:
    """Return whether a missing item of a `defaultdict` is made by a function in Python."""
    made = value.default_factory
    if not effects.built_in(value, "__missing__") or made is None:
        return False
    if isinstance(made, type):
        return any(isinstance(getattr(made, name), types.FunctionType) for name in ("__init__", "__new__"))
    return not isinstance(made, types.BuiltinFunctionType)


def _made_by_factory(run: Run, value: Any, key: Any, line: int) -> Any:
    """Read an item that is missing: a look, a call of the factory, and a write."""
    touch(run, value, effects.of(value, "get", (key,)))
    if run.telling:
        told(run, line, f"read {called(run.roots, value)}[{short(key)}]: nothing there")
    enter(run, value.default_factory, "__call__", "__init__")
    made = twin(value.default_factory)()
    if run is CONTROL.run and made is not None:
        set_item(made, value, key, line)
        return twin(made)
    value[key] = made
    return twin(made)


def set_item(new: Any, value: Any, key: Any, line: int) -> None:
    """Write an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__setitem__"):
        if isinstance(key, slice) and isinstance(new, types.GeneratorType):
            new = list(new)
        run.at(line)
        if isinstance(key, slice):
            _take_all(run, new)
        touch(run, value, effects.of(value, "__setitem__", (key,)))
        if run.telling:
            told(run, line, f"write {called(run.roots, value)}[{short(key)}] = {short(new)}")
    elif run is not None and foreign(run, value, line, "__setitem__"):
        _take_all(run, new)
        before = whole.change(run, value)
        value[key] = new
        whole.changed(run, value, before)
        enter(run, value, "__setitem__")
        return
    elif run is None:
        keeping.items(value, key)
    value[key] = new


def _take_all(run: Run, new: Any) -> None:
    """Record that all items of a value are read, to be written elsewhere."""
    for container in effects.behind(new):
        touch(run, container, effects.READS)
    advance(run, new)
    if whole.is_foreign(run, new, "__iter__"):
        whole.read(run, new)


def delete_item(value: Any, key: Any, line: int) -> None:
    """Delete an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__delitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__delitem__", (key,)))
        if run.telling:
            told(run, line, f"delete {called(run.roots, value)}[{short(key)}]")
    elif run is not None and foreign(run, value, line, "__delitem__"):
        before = whole.change(run, value)
        del value[key]
        whole.changed(run, value, before)
        enter(run, value, "__delitem__")
        return
    elif run is None:
        keeping.items(value, key)
    del value[key]


def contains(key: Any, value: Any, line: int) -> bool:
    """Ask whether an item is there."""
    run = CONTROL.run
    if run is None:
        return key in value
    asked = [each for each in effects.behind(value) if effects.built_in(each, "__contains__")]
    if asked or any(effects.iterators(value)) or any(True for _ in _compared(run, key, value)):
        run.at(line)
    for each in asked:
        touch(run, each, effects.of(each, "__contains__", (key,)) if each is value else effects.READS)
    for one in list(_compared(run, key, value)):
        whole.read(run, one)
    advance(run, value)
    if not isinstance(value, effects.KINDS) and foreign(run, value, line, "__contains__", "__iter__"):
        whole.read(run, value)
    found = key in value
    if run.telling and run is CONTROL.run:
        for each in asked:
            told(run, line, f"{short(key)} in {called(run.roots, each)}: {found}")
    enter(run, value, "__contains__", "__iter__")
    enter(run, key, "__eq__", "__hash__")
    return found


def _compared(run: Run, key: Any, value: Any) -> Iterator[Any]:
    """Yield what the search for a key compares, in anything but a dictionary or a set."""
    if not isinstance(value, _HASHED):
        if type(key) not in whole.VALUES:
            yield from whole.inside(run, key)
        if not isinstance(value, str | bytes):
            yield from (each for each in whole.inside(run, value) if each is not value)


def truth(value: Any, line: int) -> Any:
    """Ask for the truth of a value: of a container, whether it is empty."""
    run = CONTROL.run
    if run is not None and isinstance(value, effects.KINDS) and effects.built_in(value, "__len__"):
        run.at(line)
        touch(run, value, effects.SHAPE)
        if run.telling:
            told(run, line, f"{called(run.roots, value)} has {len(value)} items")
        return value
    if run is not None and foreign(run, value, line, "__bool__", "__len__"):
        whole.read(run, value)
        enter(run, value, "__bool__", "__len__")
    return value


def seen(value: Any, line: int) -> Any:
    """Read a whole container, which is used there and then."""
    run = CONTROL.run
    if run is not None and type(value) is not tuple:
        behind = list(effects.behind(value))
        if behind or any(effects.iterators(value)):
            run.at(line)
        for each in behind:
            touch(run, each, effects.READS)
            if run.telling:
                told(run, line, f"read {called(run.roots, each)}")
        advance(run, value)
        if foreign(run, value, line, "__iter__"):
            whole.read(run, value)
            enter(run, value, "__iter__")
    return value


def text(value: Any, line: int) -> Any:
    """Read a value with all that it holds: for its text, or to compare it."""
    run = CONTROL.run
    if run is not None:
        _read_at_once(run, (value,), line, lambda: whole.inside(run, value, *_FOR_TEXT))
        enter(run, value, *_FOR_TEXT)
    return value


def _read_at_once(run: Run, values: tuple[Any, ...], line: int, read: Callable[[], Iterable[Any]]) -> None:
    """Read objects in one step; which those are is found out when it is the thread's turn."""
    if all(type(value) in whole.VALUES for value in values) or not any(True for _ in read()):
        return
    if run.polls:
        for one in read():
            enter(run, one, *_FOR_TEXT)
    run.at(line)
    for one in read():
        whole.read(run, one)
        if run.telling:
            told(run, line, f"read {called(run.roots, one)}")


def each(value: Any, line: int) -> Any:
    """Iterate: every item of a container is an access; between two rounds the interpreter polls."""
    run = CONTROL.run
    value = twin(value)
    plain = isinstance(value, whole.IMMUTABLE) and not isinstance(value, types.GeneratorType)
    if run is None or (plain and not run.polls):
        return value
    return Items(run, value, line)


def delegated(value: Any, line: int) -> Any:
    """Hand on with ``yield from``: a coroutine as it is, the items of anything else one by one."""
    return value if isinstance(value, types.CoroutineType) else each(value, line)


def binary(name: str, left: Any, right: Any, line: int) -> Any:
    """Apply an operator to operands of which one may be shared."""
    run = CONTROL.run
    if run is None and name not in _DUNDERS:
        keeping.items(left)
    operation = getattr(operator, name if hasattr(operator, name) else name + "_")
    if run is None or (type(left) in whole.VALUES and type(right) in whole.VALUES):
        found = operation(left, right)
        if run is None and found is not left and isinstance(found, effects.KINDS):
            keeping.made(found)
        return found
    for operand in (left, right):
        enter(run, operand, *_methods(name))
    changes = name not in _DUNDERS and any(each is left for each in _operands(run, name, left))
    if changes:
        run.at(line)
        whole.change(run, left)
        if run.telling:
            told(run, line, f"change {called(run.roots, left)}")
        for each in _operands(run, name, right):
            whole.read(run, each)
        for each in effects.of_pairs((right,)) if isinstance(left, dict) else ():
            whole.read(run, each)
    else:
        both = (left, right)
        _read_at_once(run, both, line, lambda: [each for value in both for each in _operands(run, name, value)])
    found = operation(left, right)
    for operand in (left, right):
        enter(run, operand, *_methods(name))
    return found


def _operands(run: Run, name: str, operand: Any) -> Iterable[Any]:
    """Return what an operator reads of an operand, or changes."""
    if name in _COMPARING:
        return whole.inside(run, operand)
    if name == "mod":
        return whole.inside(run, operand, *_FOR_TEXT)
    method = _DUNDERS.get(name, f"__{name}__")
    if isinstance(operand, effects.KINDS) or whole.is_foreign(run, operand, method):
        return (operand,)
    return effects.behind(operand)


@cache
def _methods(name: str) -> tuple[str, ...]:
    """Return the methods that an operator may call."""
    plain = name.strip("_") if name in _DUNDERS else name.removeprefix("i")
    return f"__{name.strip('_')}__", f"__{plain}__", f"__r{plain}__"


_HASHED: Final = (dict, set, frozenset, KeysView)
_FOR_TEXT: Final = ("__eq__", "__str__", "__repr__", "__format__")
_COMPARING: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_DUNDERS: Final = {
    name: f"__{name.rstrip('_')}__"
    for name in (*_COMPARING, "add", "sub", "mul", "matmul", "mod", "or", "and", "xor", "truediv", "floordiv", "pow")
}
"""The method of each operator that changes neither operand."""
