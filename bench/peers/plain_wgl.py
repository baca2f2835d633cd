"""The checker one would write first: Wing and Gong's search in plain Python, its memo of (frozenset, state)."""

from __future__ import annotations

from typing import Any

from latchfree_lincheck import History
from latchfree_model import Model


def linearizable(history: History, model: Model[Any]) -> bool:
    """Return whether one object's history is linearizable."""
    operations = history.operations
    calls = [operation.call for operation in operations]
    completed = frozenset(i for i, operation in enumerate(operations) if operation.return_ is not None)
    seen: set[tuple[frozenset[int], Any]] = set()
    stack = [(frozenset[int](), model.init())]
    while stack:
        done, state = stack.pop()
        if completed <= done:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        limit = min(operations[i].return_ or 0 for i in completed - done)
        for i, operation in enumerate(operations):
            if i in done or operation.invoke > limit:
                continue
            legal, after = model.step(state, calls[i])
            if legal:
                stack.append((done | {i}, after))
    return False
