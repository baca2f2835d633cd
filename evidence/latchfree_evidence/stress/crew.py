"""Run threads of compiled work together, on one kind of memory, and notice a thread that does not come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree_evidence.jitter import Jittered
from latchfree_evidence.poison import POISONED_WORDS, Marks, Poisoned, UseAfterFree
from latchfree_evidence.tickets import SHARED_WORDS, STOP, TICKET

Board: TypeAlias = NDArray[np.uint64]

#: A jittered thread yields before one atomic access in this many (a power of two).
JITTER = 32

#: Words of a thread's state: whole cache lines, since others write theirs all the time.
_STATE = -(-POISONED_WORDS // 8) * 8

#: Seconds in which some thread has to finish an operation, and in which each has to notice the stop flag.
_PATIENCE = 10.0

_LONGEST = 120.0


class Stuck(Exception):
    """A thread did not finish an operation: a livelock, or a structure damaged beyond traversal."""


class Freed(Exception):
    """A thread has used a node that was free."""


class Crew:
    """The memory handles of some threads.

    Parameters
    ----------
    arena : Arena
    memory : str
        A name of `latchfree_evidence.stress.shapes.MEMORIES`.
    threads, seed : int
    """

    def __init__(self, arena: Arena, memory: str, threads: int, seed: int) -> None:
        self._base, self._memory = np.uint64(arena.base), memory
        self._states = np.zeros((threads, _STATE), np.uint64)
        self._states[:, 0] = np.random.default_rng(seed).integers(1, 1 << 62, threads)
        self._states[:, 1] = JITTER - 1
        self.marks = Marks(len(arena.words)) if memory == "poisoned" else None

    def handle(self, process: int) -> tuple[Any, np.uint64]:
        """Return a thread's memory handle, and the address of its random state."""
        state = np.uint64(self._states[process].ctypes.data)
        if self.marks is not None:
            self.marks.prepare(self._states[process], process)
            return Poisoned(self._base, state), state
        return (Jittered(self._base, state) if self._memory == "jittered" else self._base), state


def run_together(
    execute: Callable[[int, Board, int, int], int], crew: Crew, threads: int, rounds: int, deadline: float | None
) -> list[int]:
    """Run a thread for each process and return what each wrote.

    Parameters
    ----------
    execute : callable
        Runs process number, shared words, threads and rounds; returns the rows written, negative if out of memory.
    crew : Crew
        The memory handles of the threads.
    threads, rounds : int
        How many threads run, and how many rounds each of them makes.
    deadline : float, optional
        `time.monotonic` after which the threads stop early.

    Raises
    ------
    Stuck
        If none finishes an operation for ten seconds, or one does not stop within as many of being told to.
    Freed
        If one uses a node that is free, on poisoned memory.
    """
    shared = np.zeros(SHARED_WORDS, np.uint64)
    written = [0] * threads
    caught: list[int] = []

    def participate(process: int) -> None:
        try:
            written[process] = execute(process, shared, threads, rounds)
        except UseAfterFree:
            caught.append(process)
            shared[int(STOP)] = 1

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
    if caught and crew.marks is not None:
        raise Freed(crew.marks.explain())
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
