"""Judge a history on its calls as they are, part by part, for any sequential model.

Parts are the objects, and the keys of an object where the model's partition names one for each of its calls. Of the
parts that have a violation, the part whose failing operation returned first is told.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, Protocol

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, Expired
from latchfree_lincheck.engine.decide import Decision
from latchfree_lincheck.engine.outcome import Outcome, Slices, finish
from latchfree_lincheck.engine.pieces import linearize
from latchfree_lincheck.history import History
from latchfree_lincheck.history.timeline import Ints, Timeline
from latchfree_model import Call, Model, SequentialModel

_LOOK_AT_CLOCK: Final = 1024


class CallSearch(Protocol):
    """A function that begins a search over the calls of a timeline."""

    def __call__(
        self, model: Model[Any], timeline: Timeline, calls: Sequence[Call], memory: int, deadline: Deadline
    ) -> Slices:
        """Begin a search; the caller looks at the clock between two slices of it."""
        ...


def depth_first(
    model: Model[Any], timeline: Timeline, calls: Sequence[Call], memory: int, deadline: Deadline
) -> Slices:
    """Search depth first in plain Python."""
    from latchfree_lincheck.engine.wgl.plain import PlainSearch

    return linearize(PlainSearch(model, timeline, calls, memory, deadline))


def by_z3(model: Model[Any], timeline: Timeline, calls: Sequence[Call], memory: int, deadline: Deadline) -> Slices:
    """Let Z3 look for an order."""
    from latchfree_lincheck.engine.smt.judge import solve

    return solve(model, timeline, calls, memory, deadline)


def decide_calls(
    history: History, model: Model[Any], search: CallSearch, memory: int, deadline: Deadline, *, name: str, why: str
) -> Decision:
    """Judge a history part by part; `name` and `why` say which engine does, and why it is its turn.

    Raises
    ------
    ValueError
        If the model cannot make sense of a call.
    Expired
        If the deadline passes before the search begins.
    """
    calls = _calls(history, model, deadline)
    invoke, return_, returned = history.times()
    orders: list[Ints] = []
    worst: tuple[Timeline, Outcome] | None = None
    for mine in Timeline.of(invoke, return_, returned).split(_parts(history, model, calls)):
        slices = search(model, mine, [calls[index] for index in mine.index.tolist()], memory, deadline)
        outcome = finish(slices, deadline)
        if outcome.gave_up:
            if worst is None:
                return Decision("unknown", name, why, gave_up=outcome.gave_up)
            break
        orders.append(outcome.order)
        if outcome.blocked is not None and (worst is None or return_[outcome.blocked] < return_[worst[1].blocked]):
            worst = mine, outcome
    if worst is not None:
        return Decision("violation", name, why, members=worst[0].index, outcome=worst[1])
    return Decision("ok", name, why, orders=lambda: orders)


def _calls(history: History, model: Model[Any], deadline: Deadline) -> list[Call]:
    """Return the calls; a ValueError of the model says that it cannot make sense of one."""
    calls = []
    for number, operation in enumerate(history.operations):
        if number % _LOOK_AT_CLOCK == 0 and deadline.passed():
            raise Expired
        calls.append(operation.call)
        if isinstance(model, SequentialModel):
            model.step(model.init(), calls[-1])
    return calls


def _parts(history: History, model: Model[Any], calls: Sequence[Call]) -> Ints:
    """Return the number of the part that each operation belongs to."""
    places = [
        (operation.object, model.partition(call)) for operation, call in zip(history.operations, calls, strict=True)
    ]
    whole = {name for name, place in places if place is None}
    numbers: dict[Hashable, int] = {}
    return np.array(
        [numbers.setdefault((name, None if name in whole else place), len(numbers)) for name, place in places],
        np.int64,
    )
