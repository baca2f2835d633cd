"""A shared counter: right with one atomic addition, wrong with a load and a store (the lost update)."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from latchfree.atomics import cas, fetch_add, load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore import Target
from latchfree_model import Call, SequentialModel

_1 = np.uint64(1)


class CounterModel(SequentialModel[int]):
    """``increment()`` returns the count before, ``read()`` the count."""

    name = "counter of increments"
    operations = MappingProxyType({"increment": 0, "read": 0})

    def init(self) -> int:
        """Nothing counted."""
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return the count, and the count after."""
        return state, state + (call.f == "increment")


@kernel
def increment(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one atomically; return the count before."""
    # LP: the addition.
    return fetch_add(mem, root, _1)


@kernel
def increment_by_cas(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one by compare-and-swap; return the count before."""
    while True:
        count = load(mem, root)
        # LP: the compare-and-swap that succeeds.
        if cas(mem, root, count, count + _1):
            return count


@kernel
def increment_in_two_steps(mem: Handle, root: Word, thread: Word) -> Word:
    """Load the count and store the next one: increments in between are lost."""
    count = load(mem, root)
    store(mem, root, count + _1)  # wrong: it undoes an increment since the load
    return count


@kernel
def read(mem: Handle, root: Word, thread: Word) -> Word:
    """Return the count."""
    return load(mem, root)


COUNTER = Target("counter", CounterModel(), {"increment": increment, "read": read})
CAS_COUNTER = Target("cas_counter", CounterModel(), {"increment": increment_by_cas, "read": read})
LOST_UPDATE = Target("lost_update", CounterModel(), {"increment": increment_in_two_steps, "read": read})
