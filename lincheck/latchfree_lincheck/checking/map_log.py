"""Map logs: histories of a map as rows of integers, judged without becoming Python objects.

Compiled threads write rows into arrays as they run; `check_map_log` takes the arrays as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from latchfree_lincheck.checking.checker import limit_of, merge, objection, running_with
from latchfree_lincheck.checking.verdict import Order, Verdict
from latchfree_lincheck.engine.bounds import MEMORY, Deadline
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.decide import PLANS, Decision, decide
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.compiled_code import clock
from latchfree_lincheck.history.order import order_events
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import UNKNOWN, MapModel

#: How many of a row's a and b are arguments, and what its result is, by opcode.
_ARGUMENTS = np.array([0, 1, 0, 1, 2, 1, 1, 0, 0, 0, 0])
_VALUE_RESULT = np.isin(np.arange(11), [op.GET, op.PUT, op.REMOVE, op.PUT_IF_ABSENT, op.REPLACE])
_TRUTH_RESULT = np.isin(np.arange(11), [op.REPLACE_IF, op.REMOVE_IF, op.CONTAINS])
_LARGEST = (1 << 31) - 2


@dataclass(slots=True)
class MapLog:
    """The recorded history of one map with keys 0 .. keys-1 and values >= 0.

    Parameters
    ----------
    rows : int64[n, 8]
        (process, opcode, key, a, b, result, invoke, return) of each operation; see `opcodes`. Return is -1 when
        pending; result is then -2, unknown. An absent value is -1, a truth value 0 or 1.
    contents : int64[m, keys]
        What the snapshots saw; a snapshot's result is its row.
    keys : int
        The number of keys.
    initial : int64[keys]
        What the map held at the beginning.
    name : str
        What to call it in reports.

    Raises
    ------
    ValueError
        If an array has another shape, or a row an unknown opcode or key, a stored value below 0, a return before its
        invocation, or the result of a snapshot that is not in `contents`.
    """

    rows: Ints
    contents: Ints
    keys: int
    initial: Ints
    name: str

    def __post_init__(self) -> None:
        for field, shape in (("rows", (-1, 8)), ("contents", (-1, self.keys)), ("initial", (self.keys,))):
            array = np.asarray(getattr(self, field), np.int64)
            wrong = array.ndim != len(shape)
            if wrong or any(want not in (-1, got) for want, got in zip(shape, array.shape, strict=True)):
                raise ValueError(f"{self.name}: {field} must have shape {shape}, but has {array.shape}")
            setattr(self, field, array)
        code, key, result, invoke, return_ = self.rows[:, [1, 2, 5, 6, 7]].T
        keyed = code < op.SNAPSHOT
        self._require((code >= op.GET) & (code <= op.CLEAR), f"an opcode from 0 to {op.CLEAR}")
        self._require(~keyed | ((key >= 0) & (key < self.keys)), f"a key from 0 to {self.keys - 1}")
        self._require((return_ == -1) | (return_ > invoke), "a return after its invocation, or -1")
        self._require((return_ != -1) | (result == op.UNKNOWN_RESULT), "result -2, as it is pending")
        stores = np.isin(code, [op.PUT, op.PUT_IF_ABSENT, op.REPLACE])
        self._require(~stores | (self.rows[:, 3] >= 0), "a value >= 0 as a")
        self._require((code != op.REPLACE_IF) | (self.rows[:, 4] >= 0), "a value >= 0 as b")
        is_row = (result >= 0) & (result < len(self.contents)) | (result == op.UNKNOWN_RESULT)
        self._require((code != op.SNAPSHOT) | is_row, f"as result a row of contents, below {len(self.contents)}")

    def _require(self, good: Any, expected: str) -> None:
        bad = np.flatnonzero(~good)
        if len(bad):
            raise ValueError(f"{self.name}: row {bad[0]} must have {expected}: {self.rows[bad[0]].tolist()}")

    def __len__(self) -> int:
        return len(self.rows)

    def operation(self, row: int) -> Operation:
        """Return one row as an operation of the map model."""
        process, code, key, a, b, result, invoke, return_ = self.rows[row].tolist()
        arguments = () if code >= op.SNAPSHOT else (key, *(a, b)[: _ARGUMENTS[code]])
        pending = return_ == -1
        seen: object
        if result == op.UNKNOWN_RESULT:
            seen = UNKNOWN
        elif code == op.SNAPSHOT:
            held = self.contents[result]
            seen = tuple((k, int(held[k])) for k in np.flatnonzero(held != op.ABSENT).tolist())
        elif code == op.CLEAR or (_VALUE_RESULT[code] and result == op.ABSENT):
            seen = None
        else:
            seen = bool(result) if _TRUTH_RESULT[code] else result
        return Operation(process, op.NAMES[code], arguments, seen, invoke, None if pending else return_)

    def to_history(
        self, rows: Sequence[int] | Ints | None = None, contents: Sequence[int] | Ints | None = None
    ) -> History:
        """Return rows as a history that can be checked by itself.

        Parameters
        ----------
        rows : sequence of int, optional
            Which rows; by default all.
        contents : sequence of int, optional
            What the map held before them; by default `initial`. The history begins with puts, by the process
            ``"setup"``, that establish it.
        """
        chosen = range(len(self)) if rows is None else [int(row) for row in rows]
        before = np.asarray(self.initial if contents is None else contents)
        present = np.flatnonzero(before != op.ABSENT).tolist()
        operations = [
            Operation("setup", "put", (key, int(before[key])), None, 2 * turn, 2 * turn + 1)
            for turn, key in enumerate(present)
        ]
        mine = [self.operation(row) for row in chosen]
        shift = 2 * len(present) - min((operation.invoke for operation in mine), default=0)
        for one in mine:
            return_ = None if one.return_ is None else one.return_ + shift
            operations.append(Operation(one.process, one.f, one.arguments, one.result, one.invoke + shift, return_))
        return History(self.name, operations, "map")


def check_map_log(log: MapLog, *, timeout: float | None = None, memory: int = MEMORY) -> Verdict:
    """Judge whether a map log is linearizable.

    Parameters
    ----------
    log : MapLog
        What happened.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Bytes of search tables after which the verdict is "unknown".

    Returns
    -------
    Verdict
        Indices are rows. After a violation, ``log.to_history(verdict.segment, verdict.contents)`` is a short
        history that has it.
    """
    return _Check(log, memory).run(Deadline(timeout))


class _Check:
    def __init__(self, log: MapLog, memory: int) -> None:
        self._started = clock()
        self._log = log
        self._memory = memory
        self._whole = bool((log.rows[:, 1] >= op.SNAPSHOT).any())

    def run(self, deadline: Deadline) -> Verdict:
        rows = self._log.rows
        invoke, return_ = rows[:, 6].copy(), rows[:, 7].copy()
        small, initial, contents = _small(self._log)
        if self._whole:
            part, count = np.zeros(len(rows), np.int64), 1
            meaning = Meaning("map", "value", np.array([op.ABSENT]), {0: initial}, {0: contents})
        else:
            part, count = small[:, 1].copy(), self._log.keys
            small[:, 1] = 0
            meaning = Meaning("map", "value", initial)
        parts = Parts.of(part, order_events(invoke, return_, return_ != -1), small.astype(np.int32), count)
        decision = decide(parts, meaning, return_, PLANS["auto"], self._memory, deadline)
        if decision.verdict == "unknown":
            return self._verdict("unknown", limit_of(decision, self._memory, deadline), decision)
        if decision.verdict == "ok":
            witness = Order(lambda: merge(decision.orders(), invoke))
            return self._verdict("ok", "linearizable", decision, witness=witness)
        return self._violation(decision)

    def _violation(self, decision: Decision) -> Verdict:
        """Narrow a violation to what came after the last certain configuration, and describe it."""
        outcome, rows = decision.outcome, self._log.rows
        failing = outcome.blocked
        assert failing is not None
        contents, later, ordered = self._log.initial, decision.members, 0
        if outcome.origin is not None:
            contents = self._before(outcome.origin.contents, decision.part)
            later, ordered = outcome.origin.later, outcome.origin.ordered
        segment = np.sort(later[rows[later, 6] < rows[failing, 7]])
        operation = self._log.operation(failing)
        invoke, return_ = rows[:, 6], rows[:, 7]
        during = running_with(failing, segment, invoke, return_, return_ != -1)
        return self._verdict(
            "violation",
            f"no order explains {operation.call} by process {operation.process}",
            decision,
            failing=failing,
            partial=outcome.order.tolist(),
            message=self._message(contents, outcome.order[ordered:], operation),
            excerpt=(operation, *map(self._log.operation, during)),
            segment=segment.tolist(),
            contents=tuple(contents.tolist()),
        )

    def _before(self, values: Ints, key: int) -> Ints:
        """Return what the map held, in the log's values, when the part held these; other keys are ABSENT."""
        contents = np.full(self._log.keys, op.ABSENT)
        contents[slice(None) if self._whole else slice(key, key + 1)] = values
        return _restore(self._log, contents)

    def _message(self, contents: Ints, order: Ints, failing: Operation) -> str:
        """Replay an order from `contents`; return what the model says about the failing operation then."""
        model = MapModel()
        present = np.flatnonzero(contents != op.ABSENT).tolist()
        state = frozenset((key, int(contents[key])) for key in present)
        for row in order:
            _, state = model.step(state, self._log.operation(row).call)  # type: ignore[assignment]
        return objection(model, state, failing.call)

    def _verdict(
        self, verdict: Literal["ok", "violation", "unknown"], reason: str, decision: Decision, **more: Any
    ) -> Verdict:
        return Verdict(
            verdict=verdict,
            reason=reason,
            operations=len(self._log),
            seconds=clock() - self._started,
            engine=decision.engine,
            why=decision.why,
            **more,
        )


def _small(log: MapLog) -> tuple[Ints, Ints, Ints]:
    """Return rows for the search, initial values and contents, with values that fit 31 bits."""
    rows = log.rows[:, 1:6].copy()
    conditional = np.isin(rows[:, 0], [op.REPLACE_IF, op.REMOVE_IF])
    rows[conditional & (rows[:, 2] < 0), 2] = op.IMPOSSIBLE
    values = _values(log)
    if not len(values):
        return rows, log.initial, log.contents
    for column, holds in _holding(rows):
        mine = holds & (rows[:, column] >= 0)
        rows[mine, column] = np.searchsorted(values, rows[mine, column])
    initial, contents = log.initial.copy(), log.contents.copy()
    for array in (initial, contents):
        array[array >= 0] = np.searchsorted(values, array[array >= 0])
    return rows, initial, contents


def _restore(log: MapLog, contents: Ints) -> Ints:
    """Return contents in the log's own values."""
    values = _values(log)
    if len(values):
        contents[contents >= 0] = values[contents[contents >= 0]]
    return contents


def _values(log: MapLog) -> Ints:
    """Return all values of a log, sorted, if some are too large for the search; else none."""
    rows = log.rows[:, 1:6]
    arrays = [rows[holds, column] for column, holds in _holding(rows)]
    arrays += [log.initial, log.contents.ravel()]
    if max(int(array.max(initial=0)) for array in arrays) <= _LARGEST:
        return np.zeros(0, np.int64)
    return np.unique(np.concatenate(arrays))


def _holding(rows: Ints) -> list[tuple[int, Any]]:
    """Return the columns that hold values, and in which rows."""
    code = rows[:, 0]
    return [(2, _ARGUMENTS[code] >= 1), (3, _ARGUMENTS[code] >= 2), (4, _VALUE_RESULT[code])]
