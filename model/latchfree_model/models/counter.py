"""A counter: add and read."""

from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel


class CounterModel(SequentialModel[int]):
    """``add(n) -> the value before, or None`` and ``read() -> the value``; 0 at the beginning, n any integer."""

    name = "counter"
    operations = MappingProxyType({"add": 1, "read": 0})
    queries = readonly = frozenset({"read"})

    def init(self) -> int:
        """Return the initial value, 0."""
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return the result that `call` must have, and the next value."""
        if call.f == "read":
            return state, state
        added = call.arguments[0]
        assert isinstance(added, int)
        return state, state + added

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected; an add may also return nothing."""
        return call.result == expected or (call.f == "add" and call.result is None)

    def validate(self, call: Call) -> None:
        """Raise ValueError for an unknown operation, a wrong number of arguments or an add of what is no integer."""
        super().validate(call)
        if call.f == "add" and (not isinstance(call.arguments[0], int) or isinstance(call.arguments[0], bool)):
            raise ValueError(f"{call}: 'add' of 'counter' takes an integer, not {call.arguments[0]!r}")

    def reason(self, state: int, call: Call) -> str:
        """Return what the counter held."""
        return f"the counter held {state}"
