"""The oracle: linearizability by the definition, with no cleverness but a memo on (operations done, state)."""

from collections.abc import Sequence
from dataclasses import replace

from latchfree_lincheck import History, Operation
from latchfree_model import Model


def brute(operations: Sequence[Operation], model: Model) -> bool:
    """Return whether some order of all completed and some pending operations respects real time and the model."""
    seen = set()
    stack = [(frozenset(), model.init())]
    completed = {i for i, operation in enumerate(operations) if operation.return_ is not None}
    while stack:
        done, state = stack.pop()
        if completed <= done:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        for i, operation in enumerate(operations):
            if i in done:
                continue
            if any(
                j not in done and other.return_ is not None and other.return_ < operation.invoke
                for j, other in enumerate(operations)
            ):
                continue
            legal, after = model.step(state, operation.call)
            if legal:
                stack.append((done | {i}, after))
    return False


def brute_failing(operations: Sequence[Operation], model: Model) -> int | None:
    """Return the index of the first operation, by return, up to whose return no order explains the history.

    Operations still in flight then may have taken effect or not, but if they did, with the result they got later.
    """
    returns = sorted((op.return_, i) for i, op in enumerate(operations) if op.return_ is not None)
    for until, index in returns:
        prefix = [
            operation
            if operation.return_ is not None and operation.return_ <= until
            else replace(operation, return_=None)
            for operation in operations
            if operation.invoke < until
        ]
        if not brute(prefix, model):
            return index
    return None


def assert_order(history: History, model: Model, order: Sequence[int]) -> set[int]:
    """Fail unless `order` respects real time and the model; return the indices in it."""
    operations = history.operations
    assert len(set(order)) == len(order)
    state = model.init()
    latest_invoke = -1
    for index in order:
        operation = operations[index]
        assert operation.return_ is None or operation.return_ > latest_invoke, f"{operation} comes too late in {order}"
        latest_invoke = max(latest_invoke, operation.invoke)
        legal, state = model.step(state, operation.call)
        assert legal, f"{operation} is not legal there in {order}"
    return set(order)
