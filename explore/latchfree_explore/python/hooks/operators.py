"""Hooks of operators, and of patterns that look into objects."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from latchfree_explore.python.core.places import attributes, called
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.hooks.announce import enter
from latchfree_explore.python.hooks.items import binary
from latchfree_explore.python.hooks.state import told

_NAMES: Final = (
    "add", "sub", "mul", "matmul", "truediv", "mod", "pow", "lshift", "rshift", "or_", "xor", "and_", "floordiv",
)  # fmt: skip
_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **{name.rstrip("_"): getattr(operator, name) for name in (*_NAMES, "eq", "ne", "lt", "le", "gt", "ge")},
    **{"i" + name.rstrip("_"): getattr(operator, "i" + name.rstrip("_")) for name in _NAMES},
}


def operate(name: str, left: Any, right: Any, line: int) -> Any:
    """Apply an operator; operands that are neither numbers nor texts may be shared."""
    if type(left) in whole.VALUES and type(right) in whole.VALUES:
        return _OPERATIONS[name](left, right)
    return binary(name, left, right, line)


def unary(name: str, value: Any, line: int) -> Any:
    """Apply an operator to an operand that may be shared."""
    run = CONTROL.run
    if run is not None and (isinstance(value, effects.KINDS) or whole.is_foreign(run, value, f"__{name}__")):
        run.at(line)
        whole.read(run, value)
        if run.telling:
            told(run, line, f"read {called(run.roots, value)}")
    found = getattr(operator, name)(value)
    enter(run, value, f"__{name}__")
    return found


def matched(value: Any, depth: int, line: int) -> Any:
    """Read a value as deep as patterns look into it, in one step."""
    run = CONTROL.run
    if run is not None and next(_objects(value, depth), None) is not None:
        run.at(line)
        for one in list(_objects(value, depth)):
            whole.read(run, one)
            if run.telling:
                told(run, line, f"read {called(run.roots, one)}")
    return value


def _objects(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value that may change, and those that it holds in containers or attributes, down to a depth."""
    if whole.is_controlled(type(value)):
        return
    if isinstance(value, dict):
        parts = list(dict.values(value))
    elif isinstance(value, (*effects.KINDS, tuple)):
        parts = list(value)
    else:
        parts = [] if isinstance(value, whole.IMMUTABLE) else [part for _, part in attributes(value)]
    if not isinstance(value, whole.IMMUTABLE):
        yield value
    if depth:
        for part in parts:
            yield from _objects(part, depth - 1)
