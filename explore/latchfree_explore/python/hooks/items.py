"""Hooks of accesses to the items of built-in containers.

The event comes before the read or write at the level of C: ``iter(d)`` reads the size at once, so it is called after
the event. What is touched is found after the decision who goes on, since others may have changed the container.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator
from typing import Any, Final

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.hooks import effects, whole
from latchfree_explore.python.hooks.generators import resume
from latchfree_explore.python.hooks.state import short, told
from latchfree_explore.python.library.twins import twin


def touch(run: Run, value: Any, what: effects.Effects) -> None:
    """Record what an operation touches; save the items of a container that is older than the run before they change."""
    for _, kind in what:
        if kind != "read":
            whole.save(run, value)
            break
    for part, kind in what:
        run.record(value, part, kind)


def _foreign(run: Run, value: Any, operation: str, line: int) -> bool:
    """Announce an operation of code that is not rewritten; return False if it is none."""
    if not whole.is_foreign(run, value, operation):
        return False
    run.at(line)
    if run.telling:
        told(run, line, f"{called(run.roots, value)}.{operation}()")
    return True


def item(value: Any, key: Any, line: int) -> Any:
    """Read an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__getitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__getitem__", (key,)))
        if run.telling:
            told(run, line, f"read {called(run.roots, value)}[{short(key)}]")
    elif run is not None and _foreign(run, value, "__getitem__", line):
        whole.read(run, value)
    return twin(value[key])


def set_item(new: Any, value: Any, key: Any, line: int) -> None:
    """Write an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__setitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__setitem__", (key,)))
        if run.telling:
            told(run, line, f"write {called(run.roots, value)}[{short(key)}] = {short(new)}")
    elif run is not None and _foreign(run, value, "__setitem__", line):
        before = whole.change(run, value)
        value[key] = new
        whole.changed(run, value, before)
        return
    value[key] = new


def delete_item(value: Any, key: Any, line: int) -> None:
    """Delete an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__delitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__delitem__", (key,)))
        if run.telling:
            told(run, line, f"delete {called(run.roots, value)}[{short(key)}]")
    elif run is not None and _foreign(run, value, "__delitem__", line):
        before = whole.change(run, value)
        del value[key]
        whole.changed(run, value, before)
        return
    del value[key]


def contains(key: Any, value: Any, line: int) -> bool:
    """Ask whether an item is there."""
    run = CONTROL.run
    if run is not None:
        for each in effects.behind(value):
            if effects.built_in(each, "__contains__"):
                run.at(line)
                touch(run, each, effects.of(each, "__contains__", (key,)) if each is value else effects.READS)
                if run.telling:
                    told(run, line, f"{short(key)} in {called(run.roots, each)}: {_quietly(key, value)}")
        if not isinstance(value, effects.KINDS) and (
            _foreign(run, value, "__contains__", line) or _foreign(run, value, "__iter__", line)
        ):
            whole.read(run, value)
    return key in value


def _quietly(key: Any, value: Any) -> bool:
    """Return whether an item is there, as no part of the schedule: the comparison may be the program's."""
    run, CONTROL.run = CONTROL.run, None
    try:
        return key in value
    finally:
        CONTROL.run = run


def truth(value: Any, line: int) -> Any:
    """Ask for the truth of a value: of a container, whether it is empty."""
    run = CONTROL.run
    if run is not None and isinstance(value, effects.KINDS) and effects.built_in(value, "__len__"):
        run.at(line)
        touch(run, value, effects.SHAPE)
        if run.telling:
            told(run, line, f"{called(run.roots, value)} has {len(value)} items")
        return bool(value)
    if run is not None and (_foreign(run, value, "__bool__", line) or _foreign(run, value, "__len__", line)):
        whole.read(run, value)
    return value


def seen(value: Any, line: int) -> Any:
    """Read a whole container, which is used there and then."""
    run = CONTROL.run
    if run is not None:
        for each in effects.behind(value):
            run.at(line)
            touch(run, each, effects.READS)
            if run.telling:
                told(run, line, f"read {called(run.roots, each)}")
        if _foreign(run, value, "__iter__", line):
            whole.read(run, value)
    return value


def text(value: Any, line: int) -> Any:
    """Read a value with all that it holds: for its text, or to match a pattern."""
    run = CONTROL.run
    if run is not None:
        for each in whole.inside(run, value):
            run.at(line)
            whole.read(run, each)
            if run.telling:
                told(run, line, f"read {called(run.roots, each)}")
    return value


def matched(value: Any, line: int) -> Any:
    """Read a value with all that it holds, and its attributes, to match a pattern."""
    run = CONTROL.run
    if run is not None and not isinstance(value, whole.IMMUTABLE) and not isinstance(value, effects.KINDS):
        run.at(line)
        whole.read(run, value)
    return text(value, line)


def each(value: Any, line: int) -> Any:
    """Iterate: every item of a container is an access; between two rounds the interpreter polls."""
    run = CONTROL.run
    plain = isinstance(value, whole.IMMUTABLE) and not isinstance(value, types.GeneratorType)
    if run is None or (plain and not run.polls):
        return value
    return _each(run, value, line)


def _each(run: Run, value: Any, line: int) -> Iterator[Any]:
    behind = list(effects.behind(value))
    taken_from = None if behind or not whole.is_foreign(run, value, "__next__") else value
    looked_at = None if behind or taken_from or not whole.is_foreign(run, value, "__iter__") else value
    iterator: Iterator[Any] | None = None
    while True:
        if CONTROL.run is run:
            if iterator is not None:
                run.poll()
            elif not (behind or taken_from or looked_at):
                iterator = iter(value)  # a method of the program, which tells what it does
                behind = list(effects.behind(iterator))
            if behind or taken_from is not None or looked_at is not None:
                run.at(line)
            if taken_from is not None:
                whole.change(run, taken_from)
            elif looked_at is not None:
                whole.read(run, looked_at)
            for container in behind:
                keys_only = container is value and isinstance(value, dict)
                touch(run, container, effects.SHAPE if keys_only else effects.READS)
                if run.telling:
                    told(run, line, f"next item of {called(run.roots, container)}")
        if iterator is None:
            iterator = iter(value)
        try:
            item = resume(run, iterator, line, iterator.__next__) if CONTROL.run is run else next(iterator)
        except StopIteration:
            return
        yield twin(item)


def binary(name: str, left: Any, right: Any, line: int) -> Any:
    """Apply an operator to operands of which one may be shared."""
    run = CONTROL.run
    if run is not None and (type(left) not in _VALUES or type(right) not in _VALUES):
        dunder = _DUNDERS.get(name)
        compares = name in _COMPARING
        formats = name == "mod" and isinstance(left, str | bytes)
        for operand in (left, right):
            changed = operand is left and dunder is None
            if compares or formats:
                touched = whole.inside(run, operand)
            elif isinstance(operand, effects.KINDS) or whole.is_foreign(run, operand, dunder or f"__{name}__"):
                touched = iter((operand,))
            else:
                touched = effects.behind(operand)
            for each in touched:
                run.at(line)
                (whole.change if changed and each is left else whole.read)(run, each)
                if run.telling:
                    told(run, line, f"{'change' if changed else 'read'} {called(run.roots, each)}")
    operation = getattr(operator, name if hasattr(operator, name) else name + "_")
    return operation(left, right)


_VALUES: Final = frozenset({int, float, bool, str, type(None), bytes})
_COMPARING: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_DUNDERS: Final = {
    name: f"__{name.rstrip('_')}__"
    for name in (*_COMPARING, "add", "sub", "mul", "matmul", "mod", "or", "and", "xor", "truediv", "floordiv", "pow")
}
"""The method of each operator that changes neither operand."""
