"""What the hooks of items and calls say before an operation: what it touches, and where the interpreter polls."""

from __future__ import annotations

from typing import Any

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.facts.lookup import module_name
from latchfree_explore.python.hooks.state import told


def touch(run: Run, value: Any, what: effects.Effects) -> None:
    """Record what an operation touches; save the items of a container that is older than the run before they change."""
    variables = type(value) is dict and "__builtins__" in value
    for _, kind in what:
        if kind != READ and not variables:
            whole.save(run, value)
            break
    for part, kind in what:
        run.record(value, part, kind)
        if variables and isinstance(part, tuple):
            _touch_variable(run, value, part[1], kind)


def _touch_variable(run: Run, namespace: dict[str, Any], name: Any, kind: str) -> None:
    """Record that an item of ``globals()`` is a variable of a module."""
    run.record(namespace, name, kind)
    if kind != READ:
        run.undo.item(namespace, name)
        run.constants.wrote_variable(module_name(namespace), str(name))


def advance(run: Run, value: Any) -> None:
    """Record that an operation takes items from an iterator."""
    for each in effects.iterators(value):
        run.record(each, "state", WRITE)
        if run.current is not None and not run.names.is_fresh(each):
            run.current.spin = None


def foreign(run: Run, value: Any, line: int, *operations: str) -> bool:
    """Announce an operation of code that is not rewritten; return False if it is none."""
    for operation in operations:
        if whole.is_foreign(run, value, operation):
            enter(run, value, operation)
            run.at(line)
            if run.telling:
                told(run, line, f"{called(run.roots, value)}.{operation}()")
            return True
    return False


def enter(run: Run | None, value: Any, *operations: str) -> None:
    """Poll where an operation calls, or has called, a function in Python that is not rewritten."""
    if run is not None and run.polls and run is CONTROL.run and whole.in_python(run, value, *operations):
        run.poll()
