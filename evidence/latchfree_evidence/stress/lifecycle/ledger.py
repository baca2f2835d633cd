"""The ledger: what the processes of a program intend, have acknowledged and are doing now.

Example: a process is about to put the value 7 under its key 3. The process writes 7 as intended, puts, and writes 7 as
acknowledged. If it is killed in between, the map may hold the old value or 7; after that the map must hold 7.

Invariant: a key has one writer, and ``intended`` equals ``acknowledged`` unless a write is in flight. The ledger is a
mapped file: what was written stays whatever happens to the process, its descriptors included.
"""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

PROCESSES: Final = 24
"""Processes of one program at most; the last two seats are the bystander's and nobody's."""
BYSTANDER: Final = PROCESSES - 2
NOBODY: Final = PROCESSES - 1
LANES: Final = 8
"""Parts of a process that write: the main thread, signal handlers, and the threads."""
MAIN, HANDLER, FIRST_THREAD = 0, 1, 2
KEYS: Final = 8
"""Keys of a lane in each structure."""
STRUCTURES: Final = ("ints", "texts", "topics", "own")
ABSENT: Final = 0
"""The value of a key that is not there; values are larger."""
TAKEN: Final = 64
"""Values taken from the ring that a process can note."""

PID, STATE, SINCE, STEP, FATE, STATUS, VALUES, LANES_USED, WAITING, STOP, WILL_PUT, HAS_PUT, GOT, WILL_BE, IS = range(
    15
)
STEPS, WRITES, GO_ON = 15, 16, 17
_ROW: Final = 32

NOT_YET, RUNNING, EXECUTING, RESTING, ENDING = range(5)
"""States of a process: EXECUTING is on the way into a new program, RESTING is a program that knows no arena."""

TOLD_TO_END: Final = 1000
"""Above any signal: the fate of a process that the conductor ends."""


class Ledger:
    """A view of the ledger file.

    Attributes
    ----------
    rows : ndarray
        A row a process; the columns are constants of this module.
    acknowledged, intended : ndarray
        Values by process, structure, lane and key.
    taken : ndarray
        Values that each process took from the ring.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        cells = PROCESSES * len(STRUCTURES) * LANES * KEYS
        words = PROCESSES * (_ROW + TAKEN) + 2 * cells
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
        try:
            if create:
                os.ftruncate(descriptor, 8 * words)
            self._mapping = mmap.mmap(descriptor, 8 * words)
        finally:
            os.close(descriptor)
        _KEPT.append(self._mapping)
        flat: NDArray[np.int64] = np.frombuffer(self._mapping, np.int64)
        shape = (PROCESSES, len(STRUCTURES), LANES, KEYS)
        self.rows = flat[: PROCESSES * _ROW].reshape(PROCESSES, _ROW)
        self.taken = flat[PROCESSES * _ROW :][: PROCESSES * TAKEN].reshape(PROCESSES, TAKEN)
        self.acknowledged = flat[-2 * cells : -cells].reshape(shape)
        self.intended = flat[-cells:].reshape(shape)

    def begin(self, who: int, state: int) -> None:
        """Note that this process, now in a state, is somebody."""
        self.rows[who, PID] = os.getpid()
        self.rows[who, SINCE] = time.monotonic_ns()
        self.rows[who, STATE] = state

    def value(self, who: int) -> int:
        """Return a new value; no two are equal, also of different processes."""
        self.rows[who, VALUES] += 1
        return (who + 1) << 32 | int(self.rows[who, VALUES])


#: Mappings stay: ending one would close the number of its descriptor, which may be another file's by now.
_KEPT: Final[list[mmap.mmap]] = []
