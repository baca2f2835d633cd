"""A priority queue: pop_min takes the least item."""

from bisect import bisect_left
from types import MappingProxyType
from typing import Any

from latchfree_model.models.base import Call, SequentialModel, listed

Items = tuple[Any, ...]


class PriorityQueueModel(SequentialModel[Items]):
    """``insert(x) -> None`` and ``pop_min() -> the least item, or None when empty``; items must be comparable."""

    name = "priority-queue"
    operations = MappingProxyType({"insert": 1, "pop_min": 0})
    silent = frozenset({"insert"})
    stored = MappingProxyType({"insert": (0,)})

    def init(self) -> Items:
        """Return the empty queue."""
        return ()

    def apply(self, state: Items, call: Call) -> tuple[object, Items]:
        """Return the result that `call` must have, and the next items, in order."""
        if call.f == "insert":
            item = call.arguments[0]
            try:
                place = bisect_left(state, item)
            except TypeError as error:
                raise ValueError(f"{call}: items of a priority queue must be comparable: {error}") from None
            return None, (*state[:place], item, *state[place:])
        return (state[0], state[1:]) if state else (None, state)

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "pop_min" and call.result is None

    def reason(self, state: Items, call: Call) -> str:
        """Return what the queue held."""
        return f"the queue held {listed(state)}" + (" (least first)" if len(state) > 1 else "")
