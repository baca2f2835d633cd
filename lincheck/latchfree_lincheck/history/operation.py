"""One operation of a history: who called what, when, and what came back; and what a list of them must keep to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from latchfree_model import UNKNOWN, Call
from latchfree_model.models.values import canonical

_FARTHEST: Final = 1 << 63


class InvalidOperation(ValueError):
    """An operation that cannot be part of a history.

    Attributes
    ----------
    operation : Operation
        Which one.
    """

    def __init__(self, operation: Operation, why: str) -> None:
        super().__init__(f"{operation}: {why}")
        self.operation = operation
        self.why = why


@dataclass(frozen=True, slots=True)
class Operation:
    """One call by one process.

    Parameters
    ----------
    process : int or str
        Who called; a process runs one operation at a time.
    f : str
        The operation's name, for instance ``"put"``.
    arguments : tuple
        Its arguments, hashable.
    result : object
        What it returned, or ``latchfree_model.UNKNOWN`` if nobody saw.
    invoke : int
        The time of the call.
    return_ : int or None
        The time of the return; None if it never returned, so that it may take effect any time later, or never.
    object : str, optional
        Which object was called, when a history holds several.
    """

    process: int | str
    f: str
    arguments: tuple[Hashable, ...]
    result: object
    invoke: int
    return_: int | None
    object: str | None = None

    @property
    def call(self) -> Call:
        """The operation as a sequential model sees it, with values as `latchfree_model.models.values` has them."""
        return Call(self.f, tuple(map(canonical, self.arguments)), canonical(self.result))

    def __str__(self) -> str:
        text = f"{self.f}({', '.join(map(repr, self.arguments))})"
        if self.object is not None:
            text = f"{self.object}.{text}"
        if self.return_ is None:
            return f"process {self.process}: {text} pending, invoked at {self.invoke}"
        return f"process {self.process}: {text} -> {self.result!r}, from {self.invoke} to {self.return_}"


def validate_alone(operation: Operation) -> None:
    """Raise InvalidOperation unless the operation makes sense by itself."""
    times = (operation.invoke,) if operation.return_ is None else (operation.invoke, operation.return_)
    if not all(isinstance(time, int) and not isinstance(time, bool) for time in times):
        raise InvalidOperation(operation, "times must be integers")
    if not all(-_FARTHEST <= time < _FARTHEST for time in times):
        raise InvalidOperation(operation, "times must fit 64 bits")
    if operation.return_ is None:
        if operation.result is not UNKNOWN:
            raise InvalidOperation(operation, f"it is pending, so it has no result, but {operation.result!r} is given")
    elif operation.return_ < operation.invoke:
        raise InvalidOperation(operation, "it must not return before it is invoked")


def require_one_call(operations: Iterable[Operation]) -> bool:
    """Raise InvalidOperation if a process is in two calls at once; return whether one calls as soon as it returned."""
    last: dict[int | str, Operation] = {}
    coarse = False
    for operation in sorted(operations, key=lambda each: (each.invoke, each.return_ is None, each.return_ or 0)):
        previous = last.get(operation.process)
        if previous is not None and (previous.return_ is None or previous.return_ >= operation.invoke):
            if previous.return_ != operation.invoke:
                _refuse_overlap(operation, previous)
            coarse = True
        last[operation.process] = operation
    return coarse


def _refuse_overlap(operation: Operation, previous: Operation) -> None:
    """Raise InvalidOperation for an operation whose process was still busy with another."""
    if operation == previous:
        raise InvalidOperation(operation, "it is listed twice")
    if previous.return_ is None:
        raise InvalidOperation(
            operation,
            f"the process still has a pending operation, {previous}; "
            "give the process a new name after an operation that never returns",
        )
    raise InvalidOperation(operation, f"the same process had not returned from {previous}")
