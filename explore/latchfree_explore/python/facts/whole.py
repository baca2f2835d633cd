"""Accesses of code that is not rewritten to whole objects: arrays, a `UserDict`, the methods that a dataclass got.

What such code touches inside an object is not known. So it reads, or may change, the object's state, its attributes,
and the containers that it keeps.
"""

from __future__ import annotations

import io
import re
import types
from collections.abc import Iterator
from typing import Any, Final

from latchfree_explore.python.core.names import items_of
from latchfree_explore.python.core.places import attributes
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.facts import effects
from latchfree_explore.python.facts.proxies import unwrapped

REWRITTEN: Final[dict[int, types.CodeType]] = {}
"""The code of the functions that are rewritten, while they are, by address."""
IMMUTABLE: Final = (
    str, bytes, int, float, complex, tuple, frozenset, range, slice, type(None), type, re.Pattern, re.Match,
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.GeneratorType,
    types.CoroutineType, types.AsyncGeneratorType, types.CodeType, types.GenericAlias, BaseException,
)  # fmt: skip
_IN_MEMORY: Final = (io.StringIO, io.BytesIO)
VALUES: Final = frozenset({int, float, bool, str, bytes, type(None)})
"""Kinds whose operators touch nothing that is shared."""
_CONTROLLED: Final = ("latchfree_explore.", "threading", "queue", "concurrent.futures.", "asyncio.", "_asyncio")
_OF_VALUES: Final = frozenset({
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__str__", "__repr__", "__format__",
})  # fmt: skip
_DEPTH: Final = 5
_MOST: Final = 500
COPIED: Final = ("array", "numpy")
"""Modules of arrays."""


def is_controlled(kind: type) -> bool:
    """Return whether the objects of a class tell their accesses themselves, as locks and queues do, or have none.

    Files and streams have none: what they hold is outside.
    """
    return kind.__module__.startswith(_CONTROLLED) or (issubclass(kind, io.IOBase) and not issubclass(kind, _IN_MEMORY))


def is_array(value: Any) -> bool:
    """Return whether a value may be an array in C, whose items are saved by a copy."""
    kind: Any = type(value)
    return kind.__module__ in COPIED or type(kind).__module__ == "_ctypes"


def is_foreign(run: Run, value: Any, operation: str) -> bool:
    """Return whether an operation on an object is code that is not rewritten, and may look into the object."""
    key = type(value), operation
    known = run.constants.foreign.get(key)
    if known is None:
        known = run.constants.foreign[key] = _looks_inside(*key)
    return known


def _looks_inside(kind: type, operation: str) -> bool:
    if issubclass(kind, IMMUTABLE) or issubclass(kind, effects.KINDS) or is_controlled(kind):
        return False
    if issubclass(kind, memoryview):
        return True
    held = next((vars(cls)[operation] for cls in kind.__mro__[:-1] if operation in vars(cls)), None)
    if isinstance(held, types.FunctionType):
        if id(held.__code__) in REWRITTEN:
            return False
    elif held is None:
        return False
    if kind.__hash__ is None or kind.__hash__ is object.__hash__ or _may_change(kind):
        return True
    return operation not in _OF_VALUES  # such as a Decimal


def _may_change(kind: type) -> bool:
    """Return whether a class is a dataclass that has a hash though its objects may change."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and not parameters.frozen


def in_python(run: Run, value: Any, *operations: str) -> bool:
    """Return whether an operation on a value is a function in Python that is not rewritten: it begins with a poll."""
    for operation in operations:
        key = type(value), operation + " in Python"
        known = run.constants.foreign.get(key)
        if known is None:
            held = next((vars(cls)[operation] for cls in key[0].__mro__ if operation in vars(cls)), None)
            known = isinstance(held, types.FunctionType) and id(held.__code__) not in REWRITTEN
            known = run.constants.foreign[key] = known and not is_controlled(key[0])
        if known:
            return True
    return False


def base_of(value: Any) -> Any:
    """Return the object whose memory a view shows: of a wrapper, a memoryview, a slice of an array of numpy."""
    value = unwrapped(value)
    while True:
        base = value.obj if isinstance(value, memoryview) else None
        if base is None and type(value).__module__ == "numpy":
            base = getattr(value, "base", None)
        if base is None:
            return value
        value = base


def read(run: Run, value: Any) -> None:
    """Record that a whole object is read."""
    value = base_of(value)
    if isinstance(value, effects.KINDS):
        record(run, value, effects.READS)
        return
    run.record(value, "state", READ)
    for name, each in attributes(value):
        run.record(value, name, READ)
        for container in _kept(each):
            record(run, container, effects.READS)
    for container in effects.behind(value):
        record(run, container, effects.READS)


def change(run: Run, value: Any) -> list[tuple[str, Any]]:
    """Record that a whole object may change; return its attributes, for `changed`."""
    value = base_of(value)
    if isinstance(value, effects.KINDS):
        save(run, value)
        record(run, value, effects.CHANGES)
        return []
    run.record(value, "state", WRITE)
    before = list(attributes(value))
    for name, each in before:
        run.record(value, name, READ)
        for container in _kept(each):
            save(run, container)
            record(run, container, effects.CHANGES)
    for container in effects.behind(value):
        record(run, container, effects.READS)
    if not run.names.is_born(value):
        for name, _ in before:
            run.undo.attribute(value, name)
        if is_array(value):
            run.undo.array(value)
    return before


def _kept(value: Any) -> Iterator[Any]:
    """Yield the containers that an attribute keeps: itself, and those in a list."""
    yield from effects.behind(value)
    if isinstance(value, list):
        yield from (each for each in list.__getitem__(value, slice(_MOST)) if isinstance(each, effects.KINDS))


def changed(run: Run, value: Any, before: list[tuple[str, Any]]) -> None:
    """Record which attributes a call has changed; it may have called the program in between."""
    old = dict(before)
    run.record(base_of(value), "state", WRITE)
    for name, each in attributes(value):
        if name not in old or old[name] is not each:
            if name not in old and not run.names.is_born(value):
                run.undo.new_attribute(value, name)
            run.constants.wrote(name)
            run.record(value, name, WRITE)


def record(run: Run, value: Any, what: effects.Effects) -> None:
    """Record what an operation on a container touches."""
    for part, kind in what:
        run.record(value, part, kind)


def save(run: Run, value: Any) -> None:
    """Save the items of a container that is older than the run."""
    if not run.names.is_born(value):
        run.undo.container(value)


def inside(run: Run, value: Any, *operations: str) -> Iterator[Any]:
    """Yield the containers and objects that the text of a value, or a comparison, reads: nested ones, too."""
    asked = operations or ("__eq__",)
    waiting = [(value, 0)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        each, depth = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, effects.KINDS):
            each = each if issubclass(type(each), effects.KINDS) else unwrapped(each)
            yield each
        elif not isinstance(each, tuple | frozenset):
            waiting += [(container, depth) for container in effects.behind(each)]
            if any(is_foreign(run, each, operation) for operation in asked):
                yield each
                if depth < _DEPTH:
                    waiting += [(part, depth + 1) for _, part in attributes(each) if type(part) not in VALUES]
            continue
        if depth < _DEPTH:
            waiting += [(item, depth + 1) for item in items_of(each) if not isinstance(item, str | int | float)]
