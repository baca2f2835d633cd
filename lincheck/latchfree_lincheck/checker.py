"""Check one history against a sequential model.

Linearizability is local: a history is linearizable if and only if its part on each independent object is. So the
history is split by object, and by the model's partition where every call has one, and the parts are searched
one by one (P-compositionality).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from latchfree_lincheck.engine.encode import ENCODED, encode
from latchfree_lincheck.engine.search import Deadline, Engine, Outcome, linearize
from latchfree_lincheck.engine.timeline import Ints, Timeline
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.verdict import Verdict
from latchfree_model import MODELS, Call, Model, SequentialModel, get_model

MEMORY = 2 << 30
"""Default bound on the memory of a search, in bytes."""


def check(
    history: History,
    model: str | Model[Any] = "map",
    *,
    timeout: float | None = None,
    memory: int = MEMORY,
    engine: Literal["auto", "compiled", "python"] = "auto",
) -> Verdict:
    """Judge whether a history is linearizable.

    Parameters
    ----------
    history : History
        What happened.
    model : str or Model
        A built-in model's name, or any sequential model.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Bytes of search tables after which the verdict is "unknown".
    engine : "auto", "compiled" or "python"
        The compiled search knows the built-in models; auto takes it where it can.

    Raises
    ------
    ValueError
        If the history has a call that the model does not, or the compiled search does not know the model.

    References
    ----------
    Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; Lowe, "Testing for Linearizability", 2017;
    Horn and Kroening, "Faster Linearizability Checking via P-Compositionality", 2015.
    """
    started = time.perf_counter()
    deadline = Deadline(timeout)
    if isinstance(model, str):
        model = get_model(model)
    known = model.name in ENCODED and MODELS.get(model.name) is model
    if engine == "compiled" and not known:
        raise ValueError(f"the compiled search has no model {model.name!r}; use engine='python'")
    search = _Checker(model, history.operations, memory, compiled=known and engine != "python")
    return search.run(deadline, started)


class _Checker:
    """One check: the parts of a history, and the verdict on them."""

    def __init__(self, model: Model[Any], operations: Sequence[Operation], memory: int, *, compiled: bool) -> None:
        self._model = model
        self._operations = operations
        self._calls = [operation.call for operation in operations]
        self._memory = memory
        self._compiled = compiled
        self._tables: Any = None
        if isinstance(model, SequentialModel):
            for call in self._calls:
                model.step(model.init(), call)  # raises ValueError if the model cannot make sense of it

    def run(self, deadline: Deadline, started: float) -> Verdict:
        """Search part by part; of the parts that have a violation, the earliest to return tells."""
        timeline = self._timeline()
        part = self._parts()
        parts = timeline.split(part)
        orders: list[Ints] = []
        worst: tuple[Timeline, Outcome] | None = None
        for mine in parts:
            outcome = linearize(self._engine(mine), deadline)
            orders.append(outcome.order)
            if outcome.blocked is not None:
                if worst is None or mine.return_[outcome.blocked] < worst[0].return_[worst[1].blocked]:
                    worst = mine, outcome
            elif outcome.gave_up:
                worst = worst or (mine, outcome)
                break
        if worst is not None:
            return self._judge(*worst, deadline, started)
        witness = merge(parts, orders)
        return self._verdict("ok", "linearizable", started, witness=witness)

    def _timeline(self) -> Timeline:
        returned = np.array([operation.return_ is not None for operation in self._operations], np.bool_)
        invoke = np.array([operation.invoke for operation in self._operations], np.int64)
        return_ = np.array([operation.return_ or 0 for operation in self._operations], np.int64)
        return Timeline.of(invoke, return_, returned)

    def _parts(self) -> Ints:
        """Return the number of the part that each operation belongs to."""
        places = [
            (operation.object, self._model.partition(call))
            for operation, call in zip(self._operations, self._calls, strict=True)
        ]
        whole = {name for name, place in places if place is None}
        numbers: dict[Hashable, int] = {}
        return np.array(
            [numbers.setdefault((name, None if name in whole else place), len(numbers)) for name, place in places],
            np.int64,
        )

    def _engine(self, timeline: Timeline) -> Engine:
        calls = [self._calls[index] for index in timeline.index.tolist()]
        if not self._compiled:
            from latchfree_lincheck.engine.wgl_python import PythonEngine

            return PythonEngine(self._model, timeline, calls, self._memory)
        from latchfree_lincheck.engine.wgl_compiled import CompiledEngine, Tables

        if self._tables is None:
            self._tables = Tables(self._memory)
        part = encode(self._model.name, calls)
        return CompiledEngine(
            timeline,
            part.rows,
            part.initial,
            self._tables,
            contents=part.contents,
            pieces=part.pieces,
            texts=part.texts,
        )

    def _judge(self, timeline: Timeline, outcome: Outcome, deadline: Deadline, started: float) -> Verdict:
        """Return the verdict on a part that has no linearization, or whose search gave up."""
        if outcome.gave_up == "timeout":
            return self._verdict("unknown", f"{deadline} reached", started)
        if outcome.gave_up:
            return self._verdict("unknown", f"memory bound of {self._memory >> 20:,} MB reached", started)
        assert outcome.blocked is not None
        failing = int(timeline.index[outcome.blocked])
        partial = timeline.index[outcome.order].tolist()
        operation = self._operations[failing]
        return self._verdict(
            "violation",
            f"no order explains {operation.call} by process {operation.process}",
            started,
            failing=failing,
            partial=partial,
            message=self._message(partial, operation.call, deadline),
            excerpt=(operation, *self._concurrent(timeline, operation)),
        )

    def _message(self, partial: Sequence[int], failing: Call, deadline: Deadline) -> str:
        """Replay the longest order and let the model say what is wrong with the failing call then."""
        state = self._model.init()
        for position, index in enumerate(partial):
            if position % 1024 == 0 and deadline.passed():
                return ""
            _, state = self._model.step(state, self._calls[index])
        legal, _ = self._model.step(state, failing)
        text = self._model.describe(state, failing)
        return f"{text}, yet no order that allows it explains the calls before it" if legal else text

    def _concurrent(self, timeline: Timeline, failing: Operation, most: int = 10) -> list[Operation]:
        """Return operations of the same part that ran while the failing one did."""
        assert failing.return_ is not None
        found = []
        for index in timeline.index.tolist():
            other = self._operations[index]
            over = other.return_ is not None and other.return_ < failing.invoke
            if other is not failing and other.invoke < failing.return_ and not over:
                found.append(other)
                if len(found) == most:
                    break
        return found

    def _verdict(
        self, verdict: Literal["ok", "violation", "unknown"], reason: str, started: float, **more: Any
    ) -> Verdict:
        return Verdict(
            verdict=verdict,
            reason=reason,
            operations=len(self._operations),
            seconds=time.perf_counter() - started,
            engine="compiled" if self._compiled else "python",
            **more,
        )


def merge(parts: Sequence[Timeline], orders: Sequence[Ints]) -> list[int]:
    """Merge orders of independent parts into one that respects real time across them.

    Each operation is given the earliest time its part's order allows: the latest invocation up to it. It returns
    after that time, so whatever is invoked after its return gets a later one.
    """
    indices, times = [], []
    for timeline, order in zip(parts, orders, strict=True):
        invoked = np.concatenate([timeline.invoke, timeline.pending])
        indices.append(timeline.index[order])
        times.append(np.maximum.accumulate(invoked[order]))
    if not indices:
        return []
    merged: list[int] = np.concatenate(indices)[np.argsort(np.concatenate(times), kind="stable")].tolist()
    return merged
