"""A history of registers that held a value before the history began.

Example: ``initial=0`` puts ``write(0)`` by process "initial" before the first operation. A write that returned before
everything else was called took effect before everything else, so the models need not know.
"""

from __future__ import annotations

from collections.abc import Hashable

from latchfree_lincheck.formats.values import freeze
from latchfree_lincheck.history import History, Operation

_MODELS = ("register", "cas-register")


def begin_with(history: History, initial: object) -> History:
    """Return the history with a write of `initial` to each of its objects before its first operation.

    Raises
    ------
    ValueError
        If the model of the history is none with a value at the beginning.
    """
    if history.model_hint not in _MODELS:
        given = "no model was given" if history.model_hint is None else f"the model is {history.model_hint!r}"
        raise ValueError(f"{history.name}: an initial value is for {' and '.join(_MODELS)}; {given}")
    operations = history.operations
    if not operations:
        return history
    value: Hashable = freeze(initial)
    first = min(operation.invoke for operation in operations)
    name = "initial"
    while any(operation.process == name for operation in operations):
        name += "'"
    objects = list(dict.fromkeys(operation.object for operation in operations))
    begun = first - 2 * len(objects)
    writes = [
        Operation(name, "write", (value,), None, begun + 2 * place, begun + 2 * place + 1, each)
        for place, each in enumerate(objects)
    ]
    return History(history.name, [*writes, *operations], history.model_hint)
