"""Lesson 1: count without losing. Replace the bodies of `increment` and `read`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, fetch_add, load, store
from latchfree_explore import Target
from latchfree_explore.examples.counter import CounterModel

ONE = np.uint64(1)


@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    count = load(mem, root)
    return count


@kernel
def read(mem, root, thread):
    """Return the count."""
    return load(mem, root)


COUNTER = Target("counter", CounterModel(), {"increment": increment, "read": read})
