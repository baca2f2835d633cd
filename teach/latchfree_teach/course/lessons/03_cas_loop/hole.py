"""Lesson 3: a maximum by compare-and-swap. Replace the body of `fetch_max`."""

from types import MappingProxyType

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, store
from latchfree_explore import Target
from latchfree_model import SequentialModel

FREE = np.uint64(0)
HELD = np.uint64(1)


class MaxModel(SequentialModel[int]):
    """``fetch_max(value)`` returns the maximum before, ``read()`` the maximum."""

    name = "maximum"
    operations = MappingProxyType({"fetch_max": 1, "read": 0})

    def init(self):
        """Nothing was put in."""
        return 0

    def apply(self, state, call):
        """Return the maximum, and the maximum after."""
        return state, max(state, *call.arguments) if call.f == "fetch_max" else state


@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    old = load(mem, root)
    cas(mem, root, old, value)
    return old


@kernel
def read(mem, root, thread):
    """Return the maximum."""
    return load(mem, root)


MAXIMUM = Target("maximum", MaxModel(), {"fetch_max": fetch_max, "read": read})
