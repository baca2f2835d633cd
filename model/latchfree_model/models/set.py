"""A set of elements."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import UNKNOWN, Call, SequentialModel, elements, listed

Elements = frozenset[Hashable]

WHOLE = frozenset({"snapshot", "size"})
"""The operations that look at every element at once."""


class SetModel(SequentialModel[Elements]):
    """Empty at the beginning.

    ================  ==========================================
    ``add(x)``        whether x was absent
    ``remove(x)``     whether x was present
    ``contains(x)``   whether x is present
    ``snapshot()``    the elements: any collection, each once
    ``size()``        their number
    ================  ==========================================
    """

    name = "set"
    operations = MappingProxyType({"add": 1, "remove": 1, "contains": 1, "snapshot": 0, "size": 0})
    overwriting = frozenset({"add", "remove"})
    readonly = frozenset({"contains", "snapshot", "size"})

    def init(self) -> Elements:
        """Return the empty set."""
        return frozenset()

    def apply(self, state: Elements, call: Call) -> tuple[object, Elements]:
        """Return the result that `call` must have, and the next elements."""
        if call.f in WHOLE:
            return (state if call.f == "snapshot" else len(state)), state
        element = call.arguments[0]
        present = element in state
        if call.f == "add":
            return not present, state | {element}
        return present, state - {element} if call.f == "remove" else state

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected; a snapshot in any order."""
        return (elements(call) if call.f == "snapshot" else call.result) == expected

    def reason(self, state: Elements, call: Call) -> str:
        """Return whether the element was there, or which elements were."""
        if call.f == "size":
            return f"the set held {len(state)} element(s)"
        if call.f == "snapshot":
            return f"the set held {listed(sorted(state, key=repr))}"
        return f"{call.arguments[0]!r} was {'present' if call.arguments[0] in state else 'absent'}"

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f in self.readonly or call.result is False

    def partition(self, call: Call) -> Hashable | None:
        """Return the element, or None for an operation on the whole set."""
        return None if call.f in WHOLE else call.arguments[0]

    def validate(self, call: Call) -> None:
        """Raise ValueError for an unknown operation, wrong arguments, or a snapshot that is no collection."""
        super().validate(call)
        if call.f == "snapshot" and call.result is not UNKNOWN:
            elements(call)
