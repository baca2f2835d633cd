"""Histories: what each process called, when, and what it got back.

Times are integers of one clock that all processes share; only their order matters. An atomic counter read at
every invocation and return is such a clock; a machine's wall clocks are not, unless they are synchronised.
Two operations of different processes whose times tie are taken to overlap: a coarse clock can hide a violation but
never invents one. A process may call again at the tick of its return (`coarse`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from latchfree_model import UNKNOWN, Call
from latchfree_model.models.values import canonical

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from latchfree_lincheck.history.columns import Columns

    Ints: TypeAlias = npt.NDArray[np.int64]
    Times: TypeAlias = tuple[Ints, Ints, npt.NDArray[np.bool_]]

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
        A ValueError: if a time is not an integer of 64 bits, an operation returns before it is invoked, a pending
        operation has a result, two operations of one process overlap, or an operation is listed twice.
    """

    __slots__ = ("_coarse", "_columns", "_events", "_operations", "_times", "model_hint", "name")

    def __init__(self, name: str, operations: Iterable[Operation], model_hint: str | None = None) -> None:
        self.name = name
        self.model_hint = model_hint
        self._operations: tuple[Operation, ...] | None = tuple(operations)
        self._columns: Columns | None = None
        self._times: Times | None = None
        self._events: Ints | None = None
        self._validate()

    @classmethod
    def of_valid(cls, name: str, operations: Sequence[Operation], model_hint: str | None = None) -> History:
        """Make a history of operations that are known to be valid, and in which every time is there once.

        Readers that make the times themselves know that; others use the constructor.
        """
        history = cls(name, (), model_hint)
        history._operations = tuple(operations)
        return history

    @classmethod
    def of_columns(
        cls,
        name: str,
        *,
        process: Any,
        f: Any,
        arguments: Sequence[Any] = (),
        result: Any,
        invoke: Any,
        return_: Any,
        object: Any = None,
        model_hint: str | None = None,
    ) -> History:
        """Make a history of NumPy or Arrow arrays, without an object for each operation.

        Parameters
        ----------
        name : str
            What to call it in reports.
        process, f, result : array
            One entry an operation; None in a result is None, or unknown if the operation is pending.
        arguments : sequence of array
            First arguments, second ones, and so on; None where an operation takes no more.
        invoke, return_ : array of integers
            Times; null or masked returns for pending operations.
        object : array, optional
            Which object was called.
        model_hint : str, optional
            The name of the model.

        Raises
        ------
        InvalidOperation
            As for the constructor.
        ValueError
            If the columns differ in length.
        TypeError
            If times are not integers.
        """
        from latchfree_lincheck.history.columns import Columns
        from latchfree_lincheck.history.order import find_overlap, order_events

        history = cls(name, (), model_hint)
        columns = Columns.of(process, f, arguments, result, invoke, return_, object)
        history._operations, history._columns = None, columns
        history._times = times = columns.invoke, columns.return_, columns.returned
        for row in _wrong_times(*times):
            _validate_alone(history.operation(row))
        history._events = order_events(*times)
        later, _ = find_overlap(history._events, columns.process.codes)
        if later >= 0:
            _require_one_call(map(history.operation, range(len(history))))
            history._rank(columns.process.codes.tolist())
        return history

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations; made when first asked for if the history came as columns."""
        if self._operations is None:
            self._operations = tuple(self.operation(row) for row in range(len(self)))
        return self._operations

    @property
    def columns(self) -> Columns | None:
        """The columns, if the history came as such."""
        return self._columns

    def operation(self, row: int) -> Operation:
        """Return one operation."""
        if self._operations is not None:
            return self._operations[row]
        assert self._columns is not None
        columns = self._columns
        return Operation(
            columns.process[row],
            columns.f[row],
            columns.arguments_of(row),
            columns.result[row],
            int(columns.invoke[row]),
            int(columns.return_[row]) if columns.returned[row] else None,
            None if columns.object is None else columns.object[row],
        )

    def times(self) -> Times:
        """Return the times of invocation and return as arrays, and which operations returned.

        They are ranks where a process calls again at the tick of its return.
        """
        if self._times is None:
            import numpy as np

            returned = np.array([operation.return_ is not None for operation in self.operations], np.bool_)
            invoke = np.array([operation.invoke for operation in self.operations], np.int64)
            return_ = np.array([operation.return_ or 0 for operation in self.operations], np.int64)
            self._times = invoke, return_, returned
            if self._coarse:
                self._rank([operation.process for operation in self.operations])
        return self._times

    def _rank(self, process: Sequence[Any]) -> None:
        """Put ranks in place of times: a process calls again at the tick of its return."""
        from latchfree_lincheck.history.coarse import ranked

        self._times, self._events = ranked(*self.times(), process), None

    def events(self) -> Ints:
        """Return invocations (twice the operation's index) and returns (one more) in order of time."""
        if self._events is None:
            from latchfree_lincheck.history.order import order_events

            self._events = order_events(*self.times())
        return self._events

    def _validate(self) -> None:
        for operation in self.operations:
            _validate_alone(operation)
        self._coarse = _require_one_call(self.operations)

    def __len__(self) -> int:
        return len(self._operations) if self._columns is None else len(self._columns.invoke)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return (self.name, self.operations, self.model_hint) == (other.name, other.operations, other.model_hint)

    __hash__ = None  # type: ignore[assignment]

    def _repr_svg_(self) -> str:
        """Return what a notebook shows: a row a process, a bar an operation."""
        from latchfree_lincheck.history.picture import history_svg

        return history_svg(self)

    def __repr__(self) -> str:
        return f"History({self.name!r}, {len(self)} operations, model_hint={self.model_hint!r})"


def _validate_alone(operation: Operation) -> None:
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


def _require_one_call(operations: Iterable[Operation]) -> bool:
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


def _wrong_times(invoke: Ints, return_: Ints, returned: Any) -> list[int]:
    """Return the first row that returns before it is invoked, if there is one."""
    rows: list[int] = (returned & (return_ < invoke)).nonzero()[0][:1].tolist()
    return rows


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
