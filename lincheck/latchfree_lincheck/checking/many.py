"""Check many small histories at once, given as columns.

The monitor and the frontier decide most small histories: each takes all of them in one compiled sweep. A history that
the sweeps leave undecided, or that is malformed, goes to `check` by itself. The way of a history depends on nothing but
the history, so its verdict is the same alone and among others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.checking.checker import check_until
from latchfree_lincheck.engine.bounds import MEMORY, Deadline
from latchfree_lincheck.engine.decide_many import NOWHERE, Decisions, decide_many
from latchfree_lincheck.engine.encoding.columns import compact, doubtful, encode_columns, unfit
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.monitor import MONITORS
from latchfree_lincheck.history import History
from latchfree_lincheck.history.columns import Column, Columns
from latchfree_lincheck.history.compiled_code import clock
from latchfree_lincheck.history.order import order_histories
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import Call, Model, get_model

_FRONTIER: Final = "frontier"
_LINEARIZABLE: Final = "linearizable"

Texts = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The judgements on many histories, as columns; one row a history, in the order they came.

    Parameters
    ----------
    history : sequence
        What each is called.
    verdict : object[h]
        "ok", "violation", "unknown", or "error" if it is no history or the model does not know a call.
    reason : object[h]
        One line that says why.
    engine : object[h]
        The engine that decided, as in `latchfree_lincheck.Verdict`; empty for errors.
    operations : int64[h]
        How many operations it has.
    states : int64[h]
        How many steps the searches took: the same in every run, and 0 where a monitor sufficed.
    failing : int64[h]
        If violation: the place, in its history, of the first operation by return that no order explains; else -1.
    seconds : float64[h]
        How long each history took: the time of a sweep is shared evenly among its operations. Differs from run to run.
    """

    history: Sequence[Hashable]
    verdict: Texts
    reason: Texts
    engine: Texts
    operations: Ints
    states: Ints
    failing: Ints
    seconds: npt.NDArray[np.float64]
    _columns: Columns = field(repr=False)
    _bounds: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self.operations)

    def one(self, number: int) -> History:
        """Return a history by itself, to look at, to save or to shrink.

        Raises
        ------
        InvalidOperation
            If its operations do not form a history.
        """
        return alone(self._columns, str(self.history[number]), *self._bounds[number : number + 2].tolist())

    def table(self) -> Any:
        """Return the columns as a `pyarrow.Table`."""
        import pyarrow as pa

        names = ("history", "verdict", "reason", "engine", "operations", "states", "failing", "seconds")
        return pa.table({name: pa.array(getattr(self, name)) for name in names})


def check_many(
    columns: Columns,
    history: Any,
    model: str | Model[Any] = "map",
    *,
    timeout: float | None = None,
    memory: int = MEMORY,
    budget: int | None = None,
) -> Verdicts:
    """Judge whether each of many histories is linearizable.

    Parameters
    ----------
    columns : Columns
        Their operations.
    history : array
        The history of each operation: a NumPy or Arrow array, or any sequence. Rows of one history are adjacent.
    model : str or Model
        A built-in model's name, or any sequential model.
    timeout : float, optional
        Seconds for a history that is checked by itself, after which its verdict is "unknown".
    memory : int
        Bytes of search tables after which a verdict is "unknown".
    budget : int, optional
        Steps of all searches of a history together after which its verdict is "unknown". Unlike `timeout`, a budget
        gives the same verdict on every machine. Parts that take at most 20,000 steps, and 60 an operation, are decided
        in any case.

    Raises
    ------
    ValueError
        If there is no such model, columns differ in length, rows of one history are not adjacent, or the budget is
        below 1. An error in one history stands in its row instead.

    References
    ----------
    Horn and Kroening, "Faster Linearizability Checking via P-Compositionality", 2015.
    """
    started = clock()
    if isinstance(model, str):
        model = get_model(model)
    if budget is not None and budget < 1:
        raise ValueError(f"a budget of {budget} steps: give at least 1, or None for no bound")
    names, bounds = _segments(Column.of(history), len(columns.invoke))
    count = len(names)
    verdicts = Verdicts(
        history=names,
        verdict=np.full(count, "ok", object),
        reason=np.full(count, _LINEARIZABLE, object),
        engine=np.full(count, _FRONTIER, object),
        operations=np.diff(bounds),
        states=np.zeros(count, np.int64),
        failing=np.full(count, NOWHERE),
        seconds=np.zeros(count),
        _columns=columns,
        _bounds=bounds,
    )
    closely = _sweep(verdicts, columns, bounds, model, memory)
    verdicts.seconds[:] = (clock() - started) / max(len(columns.invoke), 1) * verdicts.operations
    for number in np.flatnonzero(closely).tolist():
        _check_alone(verdicts, number, model, Deadline(timeout, budget), memory)
    return verdicts


def _segments(history: Column, rows: int) -> tuple[list[Hashable], Ints]:
    """Return the histories' names, and the rows where each begins, and the end."""
    codes = history.codes
    if len(codes) != rows:
        raise ValueError(f"column 'history' has {len(codes)} rows, but 'invoke' has {rows}")
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])) if rows else np.zeros(0, np.int64)
    mine = codes[starts]
    _, first = np.unique(mine, return_index=True)
    if len(first) < len(mine):
        again = int(starts[np.setdiff1d(np.arange(len(mine)), first)[0]])
        raise ValueError(f"history {history[again]!r} goes on in row {again} after others: sort the rows by history")
    names = mine.tolist() if history.table is None else [history[row] for row in starts.tolist()]
    return names, np.append(starts, rows)


def _sweep(verdicts: Verdicts, columns: Columns, bounds: Ints, model: Model[Any], memory: int) -> npt.NDArray[np.bool_]:
    """Judge histories together where that is possible; return which histories are left."""
    closely = unfit(model, columns, bounds)
    if len(closely):
        closely |= np.logical_or.reduceat(doubtful(columns), bounds[:-1])
    if closely.all():
        return closely
    process, _ = compact(columns.process.codes - min(int(columns.process.codes.min(initial=0)), 0))
    events, event_bounds, impossible = order_histories(
        bounds, columns.invoke, columns.return_, columns.returned, process
    )
    closely |= impossible
    together = np.flatnonzero(~closely)
    if len(together) == 0:
        return closely
    sizes = np.diff(bounds)
    rows = np.flatnonzero(np.repeat(~closely, sizes))
    if len(rows) < len(columns.invoke):
        place = np.cumsum(np.repeat(~closely, sizes)) - 1
        events = events[np.repeat(~closely, np.diff(event_bounds))]
        events = 2 * place[events >> 1] + (events & 1)
        columns = columns.take(rows)
    mine = np.append(0, np.cumsum(sizes[together]))
    encoded, owner = encode_columns(model, columns, mine)
    parts = Parts.of(encoded.part, events, encoded.rows, len(owner))
    judged = decide_many(parts, owner, encoded.meaning, columns.return_, len(together), memory)
    monitor = MONITORS.get(encoded.meaning.family)
    if monitor is not None:
        verdicts.engine[together[judged.monitored]] = monitor.name
    verdicts.states[together] = judged.steps
    closely[together[judged.undecided]] = True
    _tell_violations(verdicts, judged, columns, mine, together)
    return closely


def _tell_violations(verdicts: Verdicts, judged: Decisions, columns: Columns, bounds: Ints, together: Ints) -> None:
    """Fill in where histories fail."""
    for each in np.flatnonzero((judged.failing != NOWHERE) & ~judged.undecided).tolist():
        row, number = int(judged.failing[each]), int(together[each])
        call = Call(columns.f[row], columns.arguments_of(row), columns.result[row])
        verdicts.verdict[number] = "violation"
        verdicts.reason[number] = f"no order explains {call} by process {columns.process[row]}"
        verdicts.failing[number] = row - int(bounds[each])


def _check_alone(verdicts: Verdicts, number: int, model: Model[Any], deadline: Deadline, memory: int) -> None:
    """Check one history by itself and fill in its row."""
    started = clock()
    try:
        verdict = check_until(deadline, verdicts.one(number), model, memory, "auto")
    except (ValueError, TypeError) as error:
        verdicts.verdict[number], verdicts.reason[number], verdicts.engine[number] = "error", str(error), ""
        verdicts.states[number] = 0
    else:
        verdicts.verdict[number], verdicts.reason[number] = verdict.verdict, verdict.reason
        verdicts.engine[number] = verdict.engine
        verdicts.states[number] = verdict.steps
        if verdict.failing is not None:
            verdicts.failing[number] = verdict.failing
    verdicts.seconds[number] += clock() - started


def alone(columns: Columns, name: str, low: int, high: int) -> History:
    """Return the rows from `low` to `high` as a history; nothing in it depends on the other rows."""
    return History.of_columns(
        name,
        process=columns.process.alone(low, high),
        f=columns.f.alone(low, high),
        arguments=[column.alone(low, high) for column in columns.arguments],
        result=columns.result.alone(low, high),
        invoke=columns.invoke[low:high],
        return_=np.ma.masked_array(columns.return_[low:high], ~columns.returned[low:high]),
        object=None if columns.object is None else columns.object.alone(low, high),
    )
