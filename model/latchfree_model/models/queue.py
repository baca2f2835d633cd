"""A first-in first-out queue without bound."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel, listed

Items = tuple[Hashable, ...]


class QueueModel(SequentialModel[Items]):
    """``enqueue(x) -> None`` and ``dequeue() -> the oldest item, or None when empty``; empty at the beginning."""

    name = "queue"
    operations = MappingProxyType({"enqueue": 1, "dequeue": 0})
    silent = frozenset({"enqueue"})
    stored = MappingProxyType({"enqueue": (0,)})

    def init(self) -> Items:
        """Return the empty queue."""
        return ()

    def apply(self, state: Items, call: Call) -> tuple[object, Items]:
        """Return the result that `call` must have, and the next items, oldest first."""
        if call.f == "enqueue":
            return None, (*state, call.arguments[0])
        return (state[0], state[1:]) if state else (None, state)

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "dequeue" and call.result is None

    def reason(self, state: Items, call: Call) -> str:
        """Return what the queue held."""
        return f"the queue held {listed(state)}" + (" (oldest first)" if len(state) > 1 else "")
