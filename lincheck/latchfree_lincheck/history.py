"""Histories: what each process called, when, and what it got back.

Times are integers of one clock that all processes share; only their order matters. An atomic counter read at
every invocation and return is such a clock; a machine's wall clocks are not, unless they are synchronised.
Two operations whose times tie are taken to overlap: a coarse clock can hide a violation but never invents one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from latchfree_model import UNKNOWN, Call


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
        """The operation as a sequential model sees it."""
        return Call(self.f, self.arguments, self.result)

    def __str__(self) -> str:
        text = f"{self.f}({', '.join(map(repr, self.arguments))})"
        if self.object is not None:
            text = f"{self.object}.{text}"
        if self.return_ is None:
            return f"process {self.process}: {text} pending, invoked at {self.invoke}"
        return f"process {self.process}: {text} -> {self.result!r}, from {self.invoke} to {self.return_}"


class History:
    """Operations on one or several objects, validated.

    Parameters
    ----------
    name : str
        What to call it in reports.
    operations : iterable of Operation
        In any order; their positions are the indices that verdicts use.
    model_hint : str, optional
        The name of the model that the file or its format implies.

    Raises
    ------
    InvalidOperation
        A ValueError: if a time is not an integer, an operation returns before it is invoked, a pending operation has
        a result, or two operations of one process overlap.
    """

    __slots__ = ("model_hint", "name", "operations")

    def __init__(self, name: str, operations: Iterable[Operation], model_hint: str | None = None) -> None:
        self.name = name
        self.operations = tuple(operations)
        self.model_hint = model_hint
        self._validate()

    def _validate(self) -> None:
        last: dict[int | str, Operation] = {}
        for operation in self.operations:
            _validate_alone(operation)
        for operation in sorted(self.operations, key=lambda each: each.invoke):
            previous = last.get(operation.process)
            if previous is not None:
                if previous.return_ is None:
                    raise InvalidOperation(
                        operation,
                        f"the process still has a pending operation, {previous}; "
                        "give the process a new name after an operation that never returns",
                    )
                if previous.return_ >= operation.invoke:
                    raise InvalidOperation(operation, f"the same process had not returned from {previous}")
            last[operation.process] = operation

    def __len__(self) -> int:
        return len(self.operations)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return (self.name, self.operations, self.model_hint) == (other.name, other.operations, other.model_hint)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"History({self.name!r}, {len(self.operations)} operations, model_hint={self.model_hint!r})"


def _validate_alone(operation: Operation) -> None:
    """Raise InvalidOperation unless the operation makes sense by itself."""
    times = (operation.invoke,) if operation.return_ is None else (operation.invoke, operation.return_)
    if not all(isinstance(time, int) and not isinstance(time, bool) for time in times):
        raise InvalidOperation(operation, "times must be integers")
    if operation.return_ is None:
        if operation.result is not UNKNOWN:
            raise InvalidOperation(operation, f"it is pending, so it has no result, but {operation.result!r} is given")
    elif operation.return_ <= operation.invoke:
        raise InvalidOperation(operation, "it must return after it is invoked")
