"""What processes that may be killed at any instruction write down for those who come after them.

One file of 64-bit words, mapped by all. A process states what it is about to do, does it, and states that it is done;
the kernel keeps what a killed process has stored, in the order in which it was stored. So a write is known to have
been done, or not to have been begun, or to have been *in flight* when its process was killed.

=============  =============================================================================================
field          content
=============  =============================================================================================
clock          tickets: the time of the recorded calls, and the numbers of processes
seats          one row a seat: see the columns below
intended       for each seat and key of its own: the value it is about to have, -1 for none
acknowledged   the value it has
rows           calls on the keys that all seats share, as `latchfree_lincheck.checking.map_log.MapLog` takes them
=============  =============================================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from latchfree.atomics import fetch_add
from latchfree.jit import entry
from latchfree.kinds import Word

SEATS = 8
OWN_KEYS = 4096
SHARED_KEYS = 16
ABSENT = -1

# words of the clock, each on a line of its own
TICKET, ROW, PROCESS, STOP = 0, 8, 16, 24

# columns of a seat
STARTED = 0  # when the operation in progress began, in nanoseconds; 0 between operations
LONGEST = 1  # nanoseconds of the longest one so far
LONGEST_KIND = 2  # its number in `latchfree`'s list of operations, see worker
OPERATIONS = 3
ACKNOWLEDGED = 4  # writes
IN_FLIGHT = 5  # writes that were in flight when a process was killed
READY = 6  # processes that came so far as to work
SLOWEST_START = 7  # nanoseconds from the process's first statement to that

_CLOCK_WORDS = 64
_SEAT_WORDS = 16


@entry
def _take(address: Word) -> Word:
    return fetch_add(address, np.uint64(0), np.uint64(1))


class Ledger:
    """The ledger in a file.

    Parameters
    ----------
    path : str
    rows : int
        Room for so many recorded calls.
    create : bool
        Make the file instead of opening it.
    """

    def __init__(self, path: str, rows: int, *, create: bool = False) -> None:
        own = SEATS * OWN_KEYS
        words = _CLOCK_WORDS + SEATS * _SEAT_WORDS + 2 * own + 8 * rows
        if create:
            with Path(path).open("xb") as file:
                file.truncate(8 * words)
        self.words: Any = np.memmap(path, np.int64, "r+", shape=(words,))
        self.capacity = rows
        at = _CLOCK_WORDS
        self.clock = self.words[:at]
        self.seats = self.words[at : at + SEATS * _SEAT_WORDS].reshape(SEATS, _SEAT_WORDS)
        at += SEATS * _SEAT_WORDS
        self.intended = self.words[at : at + own].reshape(SEATS, OWN_KEYS)
        self.acknowledged = self.words[at + own : at + 2 * own].reshape(SEATS, OWN_KEYS)
        self.rows = self.words[at + 2 * own :].reshape(rows, 8)
        self._address: int = self.words.ctypes.data
        if create:
            self.intended[:] = self.acknowledged[:] = ABSENT

    def take(self, counter: int) -> int:
        """The next number of TICKET, ROW or PROCESS, from 0: nobody else gets it."""
        return int(_take(np.uint64(self._address + 8 * counter)))

    def recorded(self) -> Any:
        """The calls on shared keys: those that were begun; without result where the process did not live to tell."""
        rows = np.array(self.rows[: min(int(self.clock[ROW]), self.capacity)])
        rows = rows[rows[:, 6] != 0]
        unfinished = rows[:, 7] == 0
        rows[unfinished, 5], rows[unfinished, 7] = -2, -1
        return rows
