"""Histories: what each process called, when, and what it got back.

Times are integers of one clock that all processes share; only their order matters. An atomic counter read at
every invocation and return is such a clock; a machine's wall clocks are not, unless they are synchronised.
Two operations of different processes whose times tie are taken to overlap: a coarse clock can hide a violation but
never invents one. A process may call again at the tick of its return (`coarse`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from latchfree_lincheck.history.operation import Operation, require_one_call, validate_alone

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from latchfree_lincheck.history.columns import Columns

    Ints: TypeAlias = npt.NDArray[np.int64]
    Times: TypeAlias = tuple[Ints, Ints, npt.NDArray[np.bool_]]


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
            validate_alone(history.operation(row))
        history._events = order_events(*times)
        later, _ = find_overlap(history._events, columns.process.codes)
        if later >= 0:
            require_one_call(map(history.operation, range(len(history))))
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
            validate_alone(operation)
        self._coarse = require_one_call(self.operations)

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


def _wrong_times(invoke: Ints, return_: Ints, returned: Any) -> list[int]:
    """Return the first row that returns before it is invoked, if there is one."""
    rows: list[int] = (returned & (return_ < invoke)).nonzero()[0][:1].tolist()
    return rows
