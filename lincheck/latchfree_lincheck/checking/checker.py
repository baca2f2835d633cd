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

from latchfree_lincheck.checking.verdict import ENGINES, EngineName, Order, Verdict
from latchfree_lincheck.engine.decide import CHOICES, decide
from latchfree_lincheck.engine.encoding.encode import Encoded, NotEncodable, encode, family
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.search import Deadline, Expired, Outcome, Slices, finish, linearize
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.timeline import Ints, Timeline
from latchfree_model import Call, Model, SequentialModel, get_model

MEMORY = 2 << 30
"""Default bound on the memory of a search, in bytes."""

_LOOK_AT_CLOCK = 1024


def check(
    history: History,
    model: str | Model[Any] = "map",
    *,
    timeout: float | None = None,
    memory: int = MEMORY,
    budget: int | None = None,
    engine: EngineName = "auto",
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
    budget : int, optional
        Steps of all searches together after which the verdict is "unknown": a bound that, unlike `timeout`, gives the
        same verdict on every machine. Monitors take none. Z3 does not count any.
    engine : str
        =============  =====================================================================================
        ``auto``       monitors where they serve, then just-in-time and depth-first search in competition;
                       plain Python for models that are not built in
        ``monitor``    monitors only; "unknown" where they do not serve
        ``frontier``   just-in-time linearization only
        ``wgl``        depth-first search only
        ``python``     the same search in plain Python, for any model
        ``smt``        an independent judge for small histories, by Z3
        =============  =====================================================================================

    Raises
    ------
    ValueError
        If there is no such engine, it does not know the model, the budget is below 1, or the history has a call that
        the model does not.

    References
    ----------
    Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; Lowe, "Testing for Linearizability", 2017;
    Horn and Kroening, "Faster Linearizability Checking via P-Compositionality", 2015.
    """
    started = time.perf_counter()
    deadline = Deadline(timeout, budget)
    if isinstance(model, str):
        model = get_model(model)
    if engine not in ENGINES:
        raise ValueError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if budget is not None and budget < 1:
        raise ValueError(f"a budget of {budget} steps: give at least 1, or None for no bound")
    if engine in CHOICES and engine != "auto" and not family(model):
        raise ValueError(f"the engine {engine!r} does not know the model {model.name!r}; use engine='python'")
    return _Check(history, model, memory, engine, deadline, started).run()


class _Check:
    """One check: the parts of a history, and the verdict on them."""

    def __init__(
        self, history: History, model: Model[Any], memory: int, engine: EngineName, deadline: Deadline, started: float
    ) -> None:
        self._history = history
        self._model = model
        self._memory = memory
        self._engine: EngineName = engine
        self._deadline = deadline
        self._started = started
        self._ran = engine if engine in ("python", "smt") else "frontier"

    def run(self) -> Verdict:
        """Encode the history and let the compiled engines decide, or search part by part in Python."""
        try:
            if self._engine in CHOICES and family(self._model):
                try:
                    encoded = encode(self._model, self._history, self._deadline)
                except NotEncodable as reason:
                    if self._engine != "auto":
                        raise ValueError(f"{reason}; use engine='python'") from None
                else:
                    return self._decide(encoded)
            return self._search()
        except Expired:
            return self._unknown("timeout", self._ran, "the history was still being read")

    def _decide(self, encoded: Encoded) -> Verdict:
        """Let the compiled engines decide."""
        invoke, return_, _ = self._history.times()
        parts = Parts.of(encoded.part, self._history.events(), encoded.rows, len(encoded.meaning.first))
        decision = decide(parts, encoded.meaning, return_, self._engine, self._memory, self._deadline)  # type: ignore[arg-type]
        if decision.verdict == "ok":
            witness = Order(lambda: merge(decision.orders(), invoke))
            return self._verdict("ok", "linearizable", decision.engine, decision.why, witness=witness)
        if decision.verdict == "unknown":
            return self._unknown(decision.gave_up, decision.engine, decision.why)
        part = parts.index[parts.bounds[decision.part] : parts.bounds[decision.part + 1]]
        return self._violation(decision.outcome, part, decision.engine, decision.why)

    def _search(self) -> Verdict:
        """Search part by part; of the parts that have a violation, the earliest to return tells."""
        self._ran = "smt" if self._engine == "smt" else "python"
        calls = self._calls()
        why = "chosen" if self._engine != "auto" else f"{self._model.name!r} is not built in"
        timeline = Timeline.of(*self._history.times())
        parts = timeline.split(self._parts(calls))
        orders: list[Ints] = []
        worst: tuple[Timeline, Outcome] | None = None
        for mine in parts:
            outcome = finish(self._slices(mine, [calls[index] for index in mine.index.tolist()]), self._deadline)
            if outcome.gave_up:
                if worst is None:
                    return self._unknown(outcome.gave_up, self._ran, why)
                break
            orders.append(outcome.order)
            if outcome.blocked is not None and (worst is None or self._earlier(outcome, worst[1])):
                worst = mine, outcome
        if worst is not None:
            return self._violation(worst[1], worst[0].index, self._ran, why)
        invoke = self._history.times()[0]
        return self._verdict("ok", "linearizable", self._ran, why, witness=merge(orders, invoke))

    def _slices(self, timeline: Timeline, calls: list[Call]) -> Slices:
        if self._engine == "smt":
            from latchfree_lincheck.engine.smt.judge import solve

            return solve(self._model, timeline, calls, self._memory, self._deadline)
        from latchfree_lincheck.engine.wgl.plain import PythonEngine

        return linearize(PythonEngine(self._model, timeline, calls, self._memory, self._deadline))

    def _calls(self) -> list[Call]:
        """Return the calls; a ValueError of the model says that it cannot make sense of one."""
        calls = []
        for number, operation in enumerate(self._history.operations):
            if number % _LOOK_AT_CLOCK == 0 and self._deadline.passed():
                raise Expired
            calls.append(operation.call)
            if isinstance(self._model, SequentialModel):
                self._model.step(self._model.init(), calls[-1])
        return calls

    def _parts(self, calls: Sequence[Call]) -> Ints:
        """Return the number of the part that each operation belongs to."""
        operations = self._history.operations
        places = [
            (operation.object, self._model.partition(call)) for operation, call in zip(operations, calls, strict=True)
        ]
        whole = {name for name, place in places if place is None}
        numbers: dict[Hashable, int] = {}
        return np.array(
            [numbers.setdefault((name, None if name in whole else place), len(numbers)) for name, place in places],
            np.int64,
        )

    def _earlier(self, one: Outcome, other: Outcome) -> bool:
        return_ = self._history.times()[1]
        return bool(return_[one.blocked] < return_[other.blocked])

    def _violation(self, outcome: Outcome, part: Ints, engine: str, why: str) -> Verdict:
        """Say where no order leads on, and what the model says there."""
        assert outcome.blocked is not None
        failing = self._history.operation(outcome.blocked)
        return self._verdict(
            "violation",
            f"no order explains {failing.call} by process {failing.process}",
            engine,
            why,
            failing=outcome.blocked,
            partial=outcome.order.tolist(),
            message=self._message(outcome.order, failing.call),
            excerpt=(failing, *self._concurrent(part, outcome.blocked)),
        )

    def _message(self, partial: Ints, failing: Call) -> str:
        """Replay the longest order and let the model say what is wrong with the failing call then."""
        state = self._model.init()
        for position, index in enumerate(partial.tolist()):
            if position % _LOOK_AT_CLOCK == 0 and self._deadline.passed():
                return ""
            _, state = self._model.step(state, self._history.operation(index).call)
        legal, _ = self._model.step(state, failing)
        text = self._model.describe(state, failing)
        return f"{text}, yet no order that allows it explains the calls before it" if legal else text

    def _concurrent(self, part: Ints, failing: int, most: int = 10) -> list[Operation]:
        """Return operations of the same part that ran while the failing one did."""
        invoke, return_, returned = self._history.times()
        over = returned[part] & (return_[part] < invoke[failing])
        during = part[~over & (invoke[part] < return_[failing]) & (part != failing)]
        return [self._history.operation(index) for index in during[:most].tolist()]

    def _unknown(self, gave_up: str, engine: str, why: str) -> Verdict:
        reasons = {
            "timeout": f"{self._deadline} reached",
            "budget": f"budget of {self._deadline.budget or 0:,} steps reached",
            "memory": f"memory bound of {self._memory >> 20:,} MB reached",
            "crowded": "more operations are in flight at once than the engine can tell apart",
            "large": "the history is too large for this engine",
            "unserved": why,
        }
        return self._verdict("unknown", reasons[gave_up], engine, why)

    def _verdict(
        self, verdict: Literal["ok", "violation", "unknown"], reason: str, engine: str, why: str, **more: Any
    ) -> Verdict:
        return Verdict(
            verdict=verdict,
            reason=reason,
            operations=len(self._history),
            seconds=time.perf_counter() - self._started,
            engine=engine,
            why=why,
            steps=self._deadline.steps,
            **more,
        )


def merge(orders: Sequence[Ints], invoke: Ints) -> list[int]:
    """Merge orders of independent parts into one that respects real time across them.

    Each operation is given the earliest time its part's order allows: the latest invocation up to it. It returns
    after that time, so whatever is invoked after its return gets a later one.
    """
    if not orders:
        return []
    times = [np.maximum.accumulate(invoke[order]) for order in orders]
    merged: list[int] = np.concatenate(orders)[np.argsort(np.concatenate(times), kind="stable")].tolist()
    return merged
