"""A last-in first-out stack."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel, listed

Items = tuple[Hashable, ...]


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
