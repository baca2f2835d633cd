"""Hooks of accesses to the items of built-in containers.

The event comes before the read or write at the level of C: ``iter(d)`` reads the size at once, so it is called after
the event. What is touched is found after the decision who goes on, since others may have changed the container.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.hooks import effects
from latchfree_explore.python.hooks.state import short, told
from latchfree_explore.python.library.twins import twin


def touch(run: Run, value: Any, what: effects.Effects) -> None:
    """Record what an operation touches; save the items of a container that is older than the run before they change."""
    for _, kind in what:
        if kind != "read" and not run.names.is_born(value):
            run.undo.container(value)
            break
    for part, kind in what:
        run.record(value, part, kind)


def item(value: Any, key: Any, line: int) -> Any:
    """Read an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__getitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__getitem__", (key,)))
        if run.telling:
            told(run, line, f"read {called(run.roots, value)}[{short(key)}]")
    return twin(value[key])


def set_item(new: Any, value: Any, key: Any, line: int) -> None:
    """Write an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__setitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__setitem__", (key,)))
        if run.telling:
            told(run, line, f"write {called(run.roots, value)}[{short(key)}] = {short(new)}")
    value[key] = new


def delete_item(value: Any, key: Any, line: int) -> None:
    """Delete an item."""
    run = CONTROL.run
    if run is not None and effects.built_in(value, "__delitem__"):
        run.at(line)
        touch(run, value, effects.of(value, "__delitem__", (key,)))
        if run.telling:
            told(run, line, f"delete {called(run.roots, value)}[{short(key)}]")
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
                    told(run, line, f"{short(key)} in {called(run.roots, each)}: {key in value}")
    return key in value


def truth(value: Any, line: int) -> Any:
    """Ask for the truth of a value: of a container, whether it is empty."""
    run = CONTROL.run
    if run is not None and isinstance(value, effects.KINDS) and effects.built_in(value, "__len__"):
        run.at(line)
        touch(run, value, effects.SHAPE)
        if run.telling:
            told(run, line, f"{called(run.roots, value)} has {len(value)} items")
        return bool(value)
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
    return value


def each(value: Any, line: int) -> Any:
    """Iterate: every item of a container is an access; between two rounds the interpreter polls."""
    run = CONTROL.run
    if run is None:
        return value
    behind = list(effects.behind(value))
    if not behind and not run.polls:
        return value
    return _each(run, value, behind, line)


def _each(run: Run, value: Any, behind: list[Any], line: int) -> Iterator[Any]:
    iterator: Iterator[Any] | None = None
    while True:
        if CONTROL.run is run:
            if iterator is not None:
                run.poll(line)
            if behind:
                run.at(line)
            for container in behind:
                keys_only = container is value and isinstance(value, dict)
                touch(run, container, effects.SHAPE if keys_only else effects.READS)
                if run.telling:
                    told(run, line, f"next item of {called(run.roots, container)}")
        if iterator is None:
            iterator = iter(value)
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item


def binary(name: str, left: Any, right: Any, line: int) -> Any:
    """Apply an operator to operands of which one may be shared."""
    run = CONTROL.run
    if run is not None:
        operands = [each for each in (left, right) if isinstance(each, effects.KINDS)]
        if operands:
            run.at(line)
        for operand in operands:
            changed = operand is left and name.startswith("i") and not isinstance(operand, int)
            touch(run, operand, effects.CHANGES if changed else effects.READS)
            if run.telling:
                told(run, line, f"{'change' if changed else 'read'} {called(run.roots, operand)}")
    operation = getattr(operator, name if hasattr(operator, name) else name + "_")
    return operation(left, right)
