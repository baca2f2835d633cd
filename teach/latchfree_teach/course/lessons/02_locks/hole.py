"""Lesson 2: a lock. Replace the bodies of `acquire`, `try_acquire` and `release`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, store
from latchfree_explore import Operation, Target
from latchfree_model import get_model

FREE = np.uint64(0)
HELD = np.uint64(1)


@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    store(mem, root, HELD)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    return load(mem, root) == FREE


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    store(mem, root, FREE)


def nothing(word):
    """Say that an operation returns nothing."""
    return


LOCK = Target(
    "lock",
    get_model("mutex"),
    {
        "acquire": Operation(acquire, nothing),
        "try_acquire": Operation(try_acquire, bool),
        "release": Operation(release, nothing),
    },
)
