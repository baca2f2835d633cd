"""Compiled threads over one ring buffer, each operation recorded between two tickets."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from latchfree.atomics import fetch_add
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.streams.kernels.layout import RING_WORDS
from latchfree.streams.kernels.ring import DONE, format_ring, try_get, try_put
from latchfree_evidence.jitter import STATE_WORDS, Jittered, random_word
from latchfree_evidence.tickets import ONE, SHARED_WORDS, TICKET, wait_for_all
from latchfree_lincheck.history import History, Operation

_PUT: Final = 0
_REFUSED: Final = -1
_COLUMNS: Final = 5
_HALF = np.uint64(1)
_NOBODY = np.uint64(0)
_FOR_EVER = np.uint64((1 << 64) - 1)
#: A jittered thread yields before one atomic access in this many (a power of two).
_JITTER: Final = 4


@kernel
def work(mem: Handle, ring: Word, shared: Word, choice: Word, threads: Word, first: Word, rows: Array) -> None:
    """Put or get, as chance has it, and write a row an operation: kind, value put, result, invocation, return."""
    wait_for_all(shared, threads)
    for k in range(len(rows)):
        kind = np.int64(random_word(choice) & _HALF)
        value = np.int64(first + np.uint64(k))
        rows[k, 0] = kind
        rows[k, 1] = value
        rows[k, 3] = np.int64(fetch_add(shared, TICKET, ONE))
        if kind == _PUT:
            rows[k, 2] = 1 if try_put(mem, ring, np.uint64(value), _FOR_EVER, _NOBODY) == DONE else _REFUSED
        else:
            outcome, found = try_get(mem, ring, _FOR_EVER, _NOBODY)
            rows[k, 2] = np.int64(found) if outcome == DONE else _REFUSED
        rows[k, 4] = np.int64(fetch_add(shared, TICKET, ONE))


def record_ring(
    *, capacity: int, threads: int, operations: int, seed: int, weak: bool = False, jittered: bool = True
) -> History:
    """Run threads over a new ring and return what they did.

    Parameters
    ----------
    capacity : int
        A power of two, at least 2.
    threads, operations : int
        Operations of each thread.
    seed : int
        Of what they choose to do; the interleaving is the machine's.
    weak : bool
        Whether the ring is a weak one.
    jittered : bool
        Whether threads give up the processor between atomic accesses.

    Returns
    -------
    History
        Of ``enqueue(x)`` and ``dequeue()``; no value is put twice.
    """
    words = np.zeros(int(RING_WORDS) + 2 * capacity, np.uint64)
    shared = np.zeros(SHARED_WORDS, np.uint64)
    base, root = np.uint64(words.ctypes.data), np.uint64(0)
    format_ring(base, root, RING_WORDS, np.uint64(capacity - 1), np.uint64(weak), np.uint64((1 << 64) - 3))
    rows = np.zeros((threads, operations, _COLUMNS), np.int64)
    states = np.zeros((threads, 2, STATE_WORDS), np.uint64)
    states[:, :, 0] = np.random.default_rng(seed).integers(1 << 62, size=(threads, 2))
    states[:, :, 1] = _JITTER - 1

    def run(thread: int) -> None:
        choice, shaking = (np.uint64(states[thread, k].ctypes.data) for k in (0, 1))
        mem = Jittered(base, shaking) if jittered else base
        first = np.uint64(thread * operations + 1)
        work(mem, root, np.uint64(shared.ctypes.data), choice, np.uint64(threads), first, rows[thread])

    bodies = [threading.Thread(target=run, args=(thread,)) for thread in range(threads)]
    for body in bodies:
        body.start()
    for body in bodies:
        body.join()
    return History(
        f"ring-{seed}", [_operation(thread, *row) for thread in range(threads) for row in rows[thread].tolist()]
    )


def _operation(thread: int, kind: int, value: int, result: int, invoke: int, return_: int) -> Operation:
    if kind == _PUT:
        return Operation(thread, "enqueue", (value,), result != _REFUSED, invoke, return_)
    return Operation(thread, "dequeue", (), None if result == _REFUSED else result, invoke, return_)
