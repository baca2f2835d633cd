"""A counter guarded by a spin lock; and one whose lock is tested first and taken afterwards."""

from __future__ import annotations

import numpy as np

from latchfree.atomics import cas, load, pause, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore import Target
from latchfree_explore.examples.counter import CounterModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_COUNT = np.uint64(1)


@kernel
def _lock(mem: Handle, root: Word) -> None:
    while not cas(mem, root, _0, _1):
        pause(mem)  # wait until somebody changes what was read


@kernel
def _careless_lock(mem: Handle, root: Word) -> None:
    while load(mem, root) != _0:
        pause(mem)
    store(mem, root, _1)  # wrong: another thread may have come between the load and here


@kernel
def _unlock(mem: Handle, root: Word) -> None:
    store(mem, root, _0)


@kernel
def increment(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one under the lock; return the count before."""
    _lock(mem, root)
    count = load(mem, root + _COUNT)
    store(mem, root + _COUNT, count + _1)
    _unlock(mem, root)
    return count


@kernel
def careless_increment(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one under a lock that two threads may hold."""
    _careless_lock(mem, root)
    count = load(mem, root + _COUNT)
    store(mem, root + _COUNT, count + _1)
    _unlock(mem, root)
    return count


@kernel
def read(mem: Handle, root: Word, thread: Word) -> Word:
    """Return the count, read under the lock."""
    _lock(mem, root)
    count = load(mem, root + _COUNT)
    _unlock(mem, root)
    return count


@kernel
def plain_increment(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one by plain accesses, without the lock."""
    count = peek(mem, root + _COUNT)
    poke(mem, root + _COUNT, count + _1)  # wrong: plain accesses, and no lock
    return count


@kernel
def forgetful_increment(mem: Handle, root: Word, thread: Word) -> Word:
    """Add one under the lock, and keep the lock."""
    _lock(mem, root)
    count = load(mem, root + _COUNT)
    store(mem, root + _COUNT, count + _1)
    return count  # wrong: the lock is never released


MUTEX = Target("mutex", CounterModel(), {"increment": increment, "read": read})
CARELESS = Target("careless_mutex", CounterModel(), {"increment": careless_increment, "read": read})
FORGETFUL = Target("forgetful_mutex", CounterModel(), {"increment": forgetful_increment, "read": read})
UNGUARDED = Target("unguarded", CounterModel(), {"increment": plain_increment, "read": read})
