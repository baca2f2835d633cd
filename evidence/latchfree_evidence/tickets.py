"""Words that the threads of a recorded run share: the counter of tickets, the barrier, the flag to stop.

A thread takes a ticket right before an operation starts and another right after it ends. The counter is one atomic
word for all threads; so an operation that returned before another was invoked has the smaller tickets, whatever any
clock says.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import fetch_add, load
from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_evidence.jitter import yield_processor

# Each on a cache line of its own.
TICKET = np.uint64(0)
ARRIVED = np.uint64(8)
STOP = np.uint64(16)
SHARED_WORDS = 24

ONE = np.uint64(1)
_GO = np.uint64(0)


@kernel
def invoked(shared: Word) -> Word:
    """Take the ticket of an operation that is about to begin."""
    return fetch_add(shared, TICKET, ONE)


@kernel
def returned(shared: Word, invoke: Word) -> Word:
    """Take the ticket of the end of the operation that took ticket `invoke` and has just ended."""
    return fetch_add(shared, TICKET, ONE)


@kernel
def wait_for_all(shared: Word, target: Word) -> None:
    """Arrive at the barrier and wait until `target` threads have arrived, or the flag to stop is set."""
    fetch_add(shared, ARRIVED, ONE)
    while load(shared, ARRIVED) < target and load(shared, STOP) == _GO:
        yield_processor()
