"""Objects that hold items in an order: queues, a stack and a priority queue."""

from bisect import bisect_left
from collections.abc import Hashable
from types import MappingProxyType
from typing import Any

from latchfree_model.models.base import Call, SequentialModel, listed

Items = tuple[Hashable, ...]
"""The items of a queue, oldest first; of a stack, latest last."""

Sorted = tuple[Any, ...]
"""The items of a priority queue, least first."""


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


class BoundedQueueModel(QueueModel):
    """``enqueue(x) -> whether there was room`` and ``dequeue() -> the oldest item, or None when empty``.

    Parameters
    ----------
    capacity : int
        How many items it holds, at least 1.
    """

    stored = MappingProxyType({"enqueue": (0,)})
    silent = frozenset()
    default = 4

    def __init__(self, capacity: int = default) -> None:
        if capacity < 1:
            raise ValueError(f"a bounded queue holds at least 1 item, not {capacity}")
        self.capacity = capacity
        suffix = "" if capacity == self.default else f":{capacity}"
        self.name = f"bounded-queue{suffix}"

    def apply(self, state: Items, call: Call) -> tuple[object, Items]:
        """Return the result that `call` must have, and the next items, oldest first."""
        if call.f == "enqueue":
            room = len(state) < self.capacity
            return room, (*state, call.arguments[0]) if room else state
        return super().apply(state, call)

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.result is False or super().effectless(call)

    def reason(self, state: Items, call: Call) -> str:
        """Return what the queue held, and how full that is."""
        return f"{super().reason(state, call)}, {len(state)} of at most {self.capacity}"


class StackModel(SequentialModel[Items]):
    """``push(x) -> None`` and ``pop() -> the latest item, or None when empty``; empty at the beginning."""

    name = "stack"
    operations = MappingProxyType({"push": 1, "pop": 0})
    silent = frozenset({"push"})
    stored = MappingProxyType({"push": (0,)})

    def init(self) -> Items:
        """Return the empty stack."""
        return ()

    def apply(self, state: Items, call: Call) -> tuple[object, Items]:
        """Return the result that `call` must have, and the next items, latest last."""
        if call.f == "push":
            return None, (*state, call.arguments[0])
        return (state[-1], state[:-1]) if state else (None, state)

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "pop" and call.result is None

    def reason(self, state: Items, call: Call) -> str:
        """Return what the stack held."""
        return f"the stack held {listed(reversed(state))}" + (" (latest first)" if len(state) > 1 else "")


class PriorityQueueModel(SequentialModel[Sorted]):
    """``insert(x) -> None`` and ``pop_min() -> the least item, or None when empty``; items must be comparable."""

    name = "priority-queue"
    operations = MappingProxyType({"insert": 1, "pop_min": 0})
    silent = frozenset({"insert"})
    stored = MappingProxyType({"insert": (0,)})

    def init(self) -> Sorted:
        """Return the empty queue."""
        return ()

    def apply(self, state: Sorted, call: Call) -> tuple[object, Sorted]:
        """Return the result that `call` must have, and the next items, in order."""
        if call.f == "insert":
            item = call.arguments[0]
            try:
                place = bisect_left(state, item)
                self._require_order(call, state[max(place - 1, 0) : place + 1])
            except TypeError as error:
                raise ValueError(f"{call}: items of a priority queue must be comparable: {error}") from None
            return None, (*state[:place], item, *state[place:])
        return (state[0], state[1:]) if state else (None, state)

    def _require_order(self, call: Call, neighbours: Sorted) -> None:
        """Raise ValueError for an item that is neither equal to, less nor more than a neighbour, as NaN is."""
        item: Any = call.arguments[0]
        for other in (item, *neighbours):
            if not (item < other or other < item or (item == other and item <= other)):
                raise ValueError(f"{call}: {item!r} and {other!r} have no order, as items of a priority queue must")

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "pop_min" and call.result is None

    def reason(self, state: Sorted, call: Call) -> str:
        """Return what the queue held."""
        return f"the queue held {listed(state)}" + (" (least first)" if len(state) > 1 else "")
