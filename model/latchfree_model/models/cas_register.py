"""A register with compare-and-set: a cas writes if and only if the register holds the value it expects."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import Call
from latchfree_model.models.register import RegisterModel


class CasRegisterModel(RegisterModel):
    """``read() -> value``, ``write(value) -> None``, ``cas(old, new) -> bool``; None at the beginning."""

    name = "cas-register"
    operations = MappingProxyType({"read": 0, "write": 1, "cas": 2})

    def apply(self, state: Hashable, call: Call) -> tuple[object, Hashable]:
        """Return the result that `call` must have, and the next value."""
        if call.f != "cas":
            return super().apply(state, call)
        old, new = call.arguments
        return (True, new) if state == old else (False, state)

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "read" or (call.f == "cas" and call.result is False)
