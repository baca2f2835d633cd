"""A read-write register: a read returns the value last written."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel


class RegisterModel(SequentialModel[Hashable]):
    """``read() -> value`` and ``write(value) -> None``; None at the beginning."""

    name = "register"
    operations = MappingProxyType({"read": 0, "write": 1})
    silent = frozenset({"write"})
    readonly = frozenset({"read"})
    overwriting = frozenset({"write"})

    def init(self) -> Hashable:
        """Return the initial value, None."""
        return None

    def apply(self, state: Hashable, call: Call) -> tuple[object, Hashable]:
        """Return the result that `call` must have, and the next value."""
        if call.f == "read":
            return state, state
        return None, call.arguments[0]

    def reason(self, state: Hashable, call: Call) -> str:
        """Return what the register held."""
        return f"the register held {state!r}"
