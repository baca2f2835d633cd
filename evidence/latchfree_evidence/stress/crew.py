"""Run threads of compiled work together, and notice a thread that does not come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree_evidence.tickets import SHARED_WORDS, STOP, TICKET

Board: TypeAlias = NDArray[np.uint64]

#: A jittered thread yields before one atomic access in this many (a power of two).
JITTER = 32

#: Seconds in which some thread has to finish an operation, and in which each has to notice the stop flag.
_PATIENCE = 10.0

_LONGEST = 120.0


class Stuck(Exception):
    """A thread did not finish an operation: a livelock, or a structure damaged beyond traversal."""


def run_together(
    execute: Callable[[int, Board, int, int], int], threads: int, rounds: int, deadline: float | None
) -> list[int]:
    """Run a thread for each process and return what each wrote.

    Parameters
    ----------
    execute : callable
        Runs process number, shared words, threads and rounds; returns the rows written, negative if out of memory.
    threads, rounds : int
    deadline : float, optional
        `time.monotonic` after which the threads stop early.

    Raises
    ------
    Stuck
        If none finishes an operation for ten seconds, or one does not stop within as many of being told to.
    """
    shared = np.zeros(SHARED_WORDS, np.uint64)
    written = [0] * threads

    def participate(process: int) -> None:
        written[process] = execute(process, shared, threads, rounds)

    workers = [threading.Thread(target=participate, args=(p,), daemon=True, name=f"stress-{p}") for p in range(threads)]
    for worker in workers:
        worker.start()
    try:
        _wait(workers, shared, deadline)
    finally:
        shared[int(STOP)] = 1
    limit = time.monotonic() + _PATIENCE
    for worker in workers:
        worker.join(max(0.0, limit - time.monotonic()))
    if any(worker.is_alive() for worker in workers):
        raise Stuck(f"a thread was still inside one operation {_PATIENCE:.0f} s after it was told to stop")
    return written


def _wait(workers: list[threading.Thread], shared: Board, deadline: float | None) -> None:
    limit = time.monotonic() + _LONGEST
    if deadline is not None:
        limit = min(limit, deadline)
    tickets, since = -1, 0.0
    for worker in workers:
        while worker.is_alive() and time.monotonic() < limit:
            if int(shared[int(TICKET)]) != tickets:
                tickets, since = int(shared[int(TICKET)]), time.monotonic()
            elif time.monotonic() > since + _PATIENCE:
                return
            worker.join(0.05)
