"""Reductions of a history that keep linearizability, whatever the model.

Take a linearization of the history; each reduction says what is left of it that linearizes the smaller history.

`part`
    Only the calls on one independent part of one object: linearizability is local.
`prefix`
    Only what was invoked before some return; what was still running then is pending. The linearization up to the last
    of the operations that had returned by then.
`optional`
    Some operations become pending: they may have taken effect at any time later, or never. The same linearization.
`without_effectless`
    Calls that changed nothing, as the model knows from their results, are left out. So they are from the linearization.
`after_cut`
    Completed operations that returned before an *overwriting* one began that no completed operation overlaps. Every
    one of them comes before it in the linearization, and the state after it does not depend on what came before; so it
    may come first, with its result forgotten. Pending operations stay, where the linearization has them after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from latchfree_lincheck.history import Operation
from latchfree_model import UNKNOWN, Model, SequentialModel


def part(operations: Sequence[Operation], model: Model[Any], failing: Operation) -> list[Operation]:
    """Return the operations on the part of the object that `failing` is on."""
    mine = [operation for operation in operations if operation.object == failing.object]
    places = [model.partition(operation.call) for operation in mine]
    if None in places:
        return mine
    place = model.partition(failing.call)
    return [operation for operation, other in zip(mine, places, strict=True) if other == place]


def prefix(operations: Sequence[Operation], until: int) -> list[Operation]:
    """Return what was invoked before the time `until`; what returned after it is pending."""
    return [
        operation if operation.return_ is not None and operation.return_ <= until else _pending(operation)
        for operation in operations
        if operation.invoke < until
    ]


def optional(operations: Sequence[Operation], chosen: Collection[int]) -> list[Operation]:
    """Return the operations with those at the chosen positions pending.

    A process goes on under a new name after a pending operation: its order is in the times anyway.
    """
    names = {operation.process for operation in operations}
    now: dict[int | str, int | str] = {}
    result = list(operations)
    for at in sorted(range(len(result)), key=lambda at: operations[at].invoke):
        process = result[at].process
        result[at] = replace(result[at], process=now.get(process, process))
        if at in chosen:
            result[at] = _pending(result[at])
            now[process] = next(name for n in count(1) if (name := f"{process}'{n}") not in names)
            names.add(now[process])
    return result


def effectless(operation: Operation, model: Model[Any]) -> bool:
    """Return whether the model knows that the operation changed nothing."""
    return isinstance(model, SequentialModel) and model.effectless(operation.call)


def after_cut(operations: Sequence[Operation], first: Operation) -> list[Operation]:
    """Return the history that begins with an operation of `cuts`, its result forgotten."""
    return [
        replace(operation, result=UNKNOWN) if operation is first else operation
        for operation in operations
        if operation is first or operation.return_ is None or operation.return_ > first.invoke
    ]


def cuts(operations: Sequence[Operation], model: Model[Any]) -> Iterator[Operation]:
    """Yield the overwriting operations that no completed operation overlaps, the latest first.

    All calls must be on one part of an object, so that overwriting it is overwriting all.
    """
    if not isinstance(model, SequentialModel) or len({model.partition(each.call) for each in operations}) > 1:
        return
    completed = sorted((each for each in operations if each.return_ is not None), key=lambda each: each.invoke)
    alone, until = [], None
    for at, operation in enumerate(completed):
        assert operation.return_ is not None
        last = at + 1 == len(completed)
        free = (until is None or until < operation.invoke) and (last or operation.return_ < completed[at + 1].invoke)
        if free and operation.f in model.overwriting:
            alone.append(operation)
        until = operation.return_ if until is None else max(until, operation.return_)
    yield from reversed(alone)


def _pending(operation: Operation) -> Operation:
    return replace(operation, result=UNKNOWN, return_=None)
