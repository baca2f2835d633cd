"""A first-in first-out queue that holds at most so many items."""

from types import MappingProxyType

from latchfree_model.models.base import Call
from latchfree_model.models.queue import Items, QueueModel


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
