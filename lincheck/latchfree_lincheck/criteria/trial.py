"""The frame that the judges of all criteria share: the clock, the bounds and the making of a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.compiled_code import clock
from latchfree_model import Model, SequentialModel

MEMORY: Final = 2 << 30
"""Default bound on the memory of a search, in bytes."""

BYTES_PER_CONFIGURATION: Final = 600
"""About what a configuration takes: its key, its place in a table, its share of the states."""

_LOOK_AT_CLOCK: Final = 128
_CONCURRENT: Final = 10


class GaveUp(Exception):
    """The deadline or the memory bound was reached."""


class Trial:
    """One judgement: starts the clock, validates the calls, counts what the search keeps, and ends in a verdict.

    Raises
    ------
    ValueError
        If the model does not have a call of the history.
    """

    def __init__(self, criterion: str, history: History, model: Model[Any], timeout: float | None, memory: int) -> None:
        self._started = clock()
        self._deadline = Deadline(timeout)
        self._memory = memory
        self._kept = self._steps = 0
        self.criterion = criterion
        self.model = model
        self.operations = history.operations
        self.calls = [operation.call for operation in history.operations]
        self.effectless = [False] * len(self.calls)
        if isinstance(model, SequentialModel):
            for call in self.calls:
                model.step(model.init(), call)
            self.effectless = [model.effectless(call) for call in self.calls]

    def tick(self) -> None:
        """Count a step; raise GaveUp if the deadline has passed."""
        self._steps += 1
        if self._steps % _LOOK_AT_CLOCK == 0 and self._deadline.passed():
            raise GaveUp(f"{self._deadline} reached")

    def keep(self) -> None:
        """Count a configuration that is kept; raise GaveUp if the memory is used up."""
        self._kept += 1
        if self._kept * BYTES_PER_CONFIGURATION > self._memory:
            raise GaveUp(f"memory bound of {self._memory >> 20:,} MB reached")

    def ok(self, reason: str, witness: Sequence[int] = ()) -> Verdict:
        """Return that the history satisfies the criterion."""
        return Verdict(verdict="ok", reason=reason, witness=witness, **self._common())

    def unknown(self, reason: str) -> Verdict:
        """Return that it could not be decided."""
        return Verdict(verdict="unknown", reason=reason, **self._common())

    def violation(self, failing: int, partial: Sequence[int], message: str) -> Verdict:
        """Return that no order explains an operation."""
        operation = self.operations[failing]
        return Verdict(
            verdict="violation",
            reason=f"not by {self.criterion}: nothing explains {operation.call} by process {operation.process}",
            failing=failing,
            partial=partial,
            message=message,
            excerpt=(operation, *self._concurrent(operation)),
            **self._common(),
        )

    def dead_end(self, failing: int, partial: Sequence[int]) -> Verdict:
        """Return a violation with what the model says about an operation after the longest order found."""
        state, mine = self.model.init(), self.operations[failing]
        for index in partial:
            if self.operations[index].object == mine.object:
                _, state = self.model.step(state, self.calls[index])
        return self.violation(failing, partial, self.model.describe(state, self.calls[failing]))

    def _common(self) -> dict[str, Any]:
        seconds = clock() - self._started
        return {"operations": len(self.operations), "seconds": seconds, "engine": self.criterion}

    def _concurrent(self, failing: Operation) -> list[Operation]:
        """Return operations on the same object that ran while the failing one did."""
        assert failing.return_ is not None
        found = [
            other
            for other in self.operations
            if other is not failing
            and other.object == failing.object
            and other.invoke < failing.return_
            and (other.return_ is None or other.return_ >= failing.invoke)
        ]
        return found[:_CONCURRENT]
