"""A mutex: held by at most one at a time."""

from types import MappingProxyType

from latchfree_model.models.base import BLOCKED, Call, SequentialModel


class MutexModel(SequentialModel[bool]):
    """Free at the beginning; the state is whether it is held.

    ==================  ===================================================
    ``acquire()``       takes effect only while the mutex is free
    ``release()``       takes effect only while it is held, by whomever
    ``try_acquire()``   whether it was free, and now is held
    ==================  ===================================================
    """

    name = "mutex"
    operations = MappingProxyType({"acquire": 0, "release": 0, "try_acquire": 0})
    silent = frozenset({"acquire", "release"})
    overwriting = frozenset({"try_acquire"})

    def init(self) -> bool:
        """Return that nobody holds it."""
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
