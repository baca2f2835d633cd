"""From operations to a history: what does not fit is named by its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.history import History, InvalidOperation, Operation
from latchfree_model import UNKNOWN, get_model


def finish(
    path: Path, name: str, operations: Sequence[Operation], lines: Mapping[int, int], model: str | None
) -> History:
    """Return the history.

    Parameters
    ----------
    path, name : Path and str
        The file and what the history is called.
    operations : sequence of Operation
        In any order.
    lines : mapping of int to int
        The line of each operation, by its identity.
    model : str, optional
        The name of its model. If there is such a model it must have every call.

    Raises
    ------
    HistoryFormatError
        If the operations do not form a history, or the model does not have one of them.
    """
    for operation in operations:
        try:
            hash(operation.arguments)
        except TypeError:
            expected = "arguments of numbers, text and lists"
            raise HistoryFormatError(path, lines[id(operation)], expected, repr(operation.arguments)[:60]) from None
    try:
        history = History(name, operations, model)
    except InvalidOperation as error:
        expected, got = _defect(error, operations, lines)
        raise HistoryFormatError(path, lines[id(error.operation)], expected, got) from None
    _validate(path, history, lines)
    return history


def _defect(error: InvalidOperation, operations: Sequence[Operation], lines: Mapping[int, int]) -> tuple[str, str]:
    """Return what was expected of an operation, and what it is."""
    operation = error.operation
    if operation.return_ is None and operation.result is not UNKNOWN:
        return f"no result of {operation.call}, which is pending", repr(operation.result)
    if operation.return_ is not None and operation.return_ < operation.invoke:
        return (
            f"{operation.call} to return at its invocation at {operation.invoke} or later",
            f"a return at {operation.return_}",
        )
    mine = [each for each in operations if each.process == operation.process and each is not operation]
    earlier = [each for each in mine if each.invoke <= operation.invoke]
    previous = max(earlier, key=lambda each: each.invoke, default=None)
    if previous is None:
        return "operations that can be one history", error.why
    line = lines[id(previous)]
    if previous.invoke == operation.invoke:
        expected = f"one operation of process {operation.process} invoked at {operation.invoke}"
        return expected, f"{operation.call} and, on line {line}, {previous.call}"
    if previous.return_ is None:
        expected = f"no call of process {operation.process} after {previous.call} of line {line}, which is pending"
        return expected, f"{operation.call}; give the process a new name after an operation that never returns"
    expected = f"process {operation.process} to have returned from {previous.call} of line {line} before its next call"
    return expected, f"{operation.call} invoked at {operation.invoke}, not after the return at {previous.return_}"


def _validate(path: Path, history: History, lines: Mapping[int, int]) -> None:
    """Raise HistoryFormatError if the model, where its name is known, does not have a call."""
    try:
        model = get_model(history.model_hint or "")
    except ValueError:
        return
    for operation in history.operations:
        try:
            model.validate(operation.call)
        except ValueError as error:
            expected = f"a call of the model {model.name!r}"
            raise HistoryFormatError(path, lines[id(operation)], expected, str(error)) from None
