"""Intermediate value linearizability: every read lies between its least and its greatest legal value.

For objects of updates that return nothing and reads of a quantity. There must be two linearizations of the history
without the reads' results, one in which each read returns at most what it returned, one in which at least that.

For a quantity that updates only raise, the two extreme linearizations are known. Least: every read at its
invocation, every update at its return, and pending updates never. Any other linearization puts before a read all
updates that returned before the read was invoked, which are exactly the ones that count here; so all reads are least
at once. Greatest: every update at its invocation, every read at its return. Updates must commute, and no update may
lower a quantity; a model promises that by having `queries`.

Unlike linearizability it lets a read of a long sum see the second of two updates and miss the first: what a
concurrent sketch or a sum over per-thread counters does. It is a local property: objects are judged one by one.

Relaxed by r, the least value may miss the last r updates of each process: an update counts when r more updates of its
process have returned, or when an operation that flushes has (`flushes` of the model). So do sketches whose threads keep
up to r updates back in a buffer.

Sources: Rinberg and Keidar, "Intermediate Value Linearizability: A Quantitative Correctness Criterion", 2020. Rinberg,
Spiegelman, Bortnikov, Hillel, Keidar, Rhodes, Serviansky, "Fast Concurrent Data Sketches", 2020.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.criteria.trial import GaveUp, Trial
from latchfree_lincheck.engine.bounds import MEMORY
from latchfree_lincheck.history import History
from latchfree_model import UNKNOWN, Call, Model, SequentialModel

_READ_AT_TIE: Final = {"least": 0, "greatest": 2}
"""Where events tie in time the operations overlap: a read comes before updates for the least value, else after."""


def intermediate_value_linearizable(
    history: History,
    model: Model[Any],
    *,
    timeout: float | None = None,
    memory: int = MEMORY,
    relaxation: int = 0,
) -> Verdict:
    """Judge whether a history is intermediate value linearizable: O(n log n), and a step a call and distinct read.

    Parameters
    ----------
    history : History
        What happened; updates return nothing (None, or UNKNOWN).
    model : SequentialModel
        Its `queries` name the operations that read; all others are updates, which commute and lower no query.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Not used: the judgement keeps one state an object.
    relaxation : int
        How many of its last updates each process may keep back, until it makes one of the model's `flushes`, if any.

    Raises
    ------
    ValueError
        If the relaxation is below 0, the model names no queries, an update returned something or lowered a query, or
        the history has a call that the model does not have.
    """
    if relaxation < 0:
        raise ValueError(f"relaxation must be at least 0, got {relaxation}")
    queries = getattr(model, "queries", None)
    if not isinstance(model, SequentialModel) or not queries:
        raise ValueError(
            f"the model {model.name!r} names no queries, so it has no intermediate values: give it `queries`, the "
            "names of the operations that read a quantity which all others can only raise"
        )
    for operation in history.operations:
        if operation.f not in queries and operation.result is not None and operation.result is not UNKNOWN:
            raise ValueError(f"{operation}: an update must return nothing for values to have an order; record None")
    trial = Trial("intermediate value linearizability", history, model, timeout, memory)
    try:
        least = _extreme(trial, model, queries, "least", _counts_at(trial, model, queries, relaxation))
        greatest = _extreme(trial, model, queries, "greatest", [each.invoke for each in trial.operations])
    except GaveUp as reason:
        return trial.unknown(str(reason))
    wrong = []
    for index, low in least.items():
        if not _between(low, trial.calls[index].result, greatest[index]):
            wrong.append(index)
    if not wrong:
        return trial.ok("every read is between its least and its greatest value")
    failing = min(wrong, key=lambda index: trial.operations[index].return_ or 0)
    message = (
        f"{trial.calls[failing]} returned {trial.calls[failing].result!r}, but it must be between "
        f"{least[failing]!r} and {greatest[failing]!r}"
    )
    return trial.violation(failing, _before(trial, queries, failing), message)


def _counts_at(trial: Trial, model: SequentialModel[Any], queries: Sequence[str], relaxation: int) -> list[int | None]:
    """Return when each update counts for certain: when it and so many more of its process on its object returned."""
    found = [operation.return_ for operation in trial.operations]
    kept: dict[tuple[Hashable, str | None], list[int]] = {}
    returned = [index for index, each in enumerate(trial.operations) if each.return_ is not None]
    for index in sorted(returned, key=lambda index: trial.operations[index].return_ or 0) if relaxation else ():
        operation = trial.operations[index]
        if operation.f in queries:
            continue
        mine = kept.setdefault((operation.process, operation.object), [])
        if operation.f not in model.flushes:
            mine.append(index)
            found[index] = None
        while mine and (operation.f in model.flushes or len(mine) > relaxation):
            found[mine.pop(0)] = operation.return_
    return found


def _extreme(
    trial: Trial, model: SequentialModel[Any], queries: Sequence[str], end: str, counts_at: Sequence[int | None]
) -> dict[int, Any]:
    """Return what each completed read with a result returns in one of the two extreme linearizations."""
    events: list[tuple[int, int, int]] = []
    for index, operation in enumerate(trial.operations):
        reads = operation.f in queries
        at = counts_at[index] if not reads else operation.invoke if end == "least" else operation.return_
        if at is not None and not (reads and (operation.return_ is None or operation.result is UNKNOWN)):
            events.append((at, _READ_AT_TIE[end] if reads else 1, index))
    states: dict[str | None, Hashable] = {}
    quantities: dict[str | None, dict[tuple[str, tuple[object, ...]], Any]] = {}
    for _, _, index in events:
        name, call = trial.operations[index].object, trial.calls[index]
        if call.f in queries:
            quantities.setdefault(name, {})[call.f, call.arguments] = model.apply(model.init(), call)[0]
    found = {}
    for _, _, index in sorted(events):
        trial.tick()
        name, call = trial.operations[index].object, trial.calls[index]
        expected, after = model.apply(states.get(name, model.init()), call)
        if call.f in queries:
            found[index] = expected
        else:
            states[name] = after
            _must_not_fall(trial, model, call, after, quantities.get(name, {}))
    return found


def _must_not_fall(
    trial: Trial,
    model: SequentialModel[Any],
    update: Call,
    state: Hashable,
    quantities: dict[tuple[str, tuple[object, ...]], Any],
) -> None:
    """Ask everything that is ever read again after an update; raise ValueError if something is less now."""
    for (f, arguments), before in quantities.items():
        trial.tick()
        now, _ = model.apply(state, Call(f, arguments, UNKNOWN))
        if not before <= now:
            raise ValueError(f"{update} lowered {f}{arguments!r} from {before!r} to {now!r}: updates may only raise it")
        quantities[f, arguments] = now


def _between(low: Any, seen: Any, high: Any) -> bool:
    try:
        return bool(low <= seen <= high)
    except TypeError:
        return False


def _before(trial: Trial, queries: Sequence[str], failing: int) -> list[int]:
    """Return the updates that must come before a read, by time of return."""
    read = trial.operations[failing]
    returned = [
        (operation.return_, index)
        for index, operation in enumerate(trial.operations)
        if operation.f not in queries and operation.object == read.object
        if operation.return_ is not None and operation.return_ < read.invoke
    ]
    return [index for _, index in sorted(returned)]
