"""Objects of one value: a register, the same with compare-and-set, a counter, a mutex."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import BLOCKED, Call, SequentialModel


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
        """Raise ValueError for an unknown operation, a wrong number of arguments or an `add` without an integer."""
        super().validate(call)
        if call.f == "add" and (not isinstance(call.arguments[0], int) or isinstance(call.arguments[0], bool)):
            raise ValueError(f"{call}: 'add' of 'counter' takes an integer, not {call.arguments[0]!r}")

    def reason(self, state: int, call: Call) -> str:
        """Return what the counter held."""
        return f"the counter held {state}"


class MutexModel(SequentialModel[bool]):
    """Free at the beginning; the state is whether it is held.

    ==================  ===================================================
    ``acquire()``       takes effect only while the mutex is free
    ``release()``       takes effect only while it is held; any process may release
    ``try_acquire()``   whether it was free, and now is held
    ==================  ===================================================
    """

    name = "mutex"
    operations = MappingProxyType({"acquire": 0, "release": 0, "try_acquire": 0})
    silent = frozenset({"acquire", "release"})
    overwriting = frozenset({"try_acquire"})

    def init(self) -> bool:
        """Return the initial state: free."""
        return False

    def apply(self, state: bool, call: Call) -> tuple[object, bool]:
        """Return the result that `call` must have, and whether the mutex is held next."""
        if call.f == "try_acquire":
            return not state, True
        if state == (call.f == "acquire"):
            return BLOCKED, state
        return None, not state

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f == "try_acquire" and call.result is False

    def reason(self, state: bool, call: Call) -> str:
        """Return whether the mutex was held."""
        return "the mutex was held" if state else "the mutex was free"
