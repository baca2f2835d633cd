"""How long a process has been doing nothing, on a machine that may be busy with other things.

Example: a step has taken 8 seconds by the clock. For 6 of them its process was waiting for a processor, so the step
counts as 2 seconds and more; a process that waits for a lock for 8 seconds counts as 8.

A stretch of time counts in full if the threads of the process ran or wished to run in less than a quarter of it, and
none wishes to run, or is in the midst of reading or writing a disk, at its end. It counts as a tenth otherwise, so that
a process that is busy for ever is found, too. If the watcher itself was late, the stretch counts as if the watcher had
been in time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

GONE: Final = ("", "Z", "X")
"""States of a process that is no more, though its parent may not know."""
LIMIT: Final = 5.0
"""Seconds that a step may take."""
_SUSPICIOUS: Final = 1.0
_SHARE_OF_BUSY: Final = 0.1
_STRETCH: Final = 0.25
"""Seconds between two looks: the kernel counts in ticks."""
_MOST: Final = 0.5
"""Seconds of a stretch that count at most."""


def state_of(pid: int) -> str:
    """Return the letter of a process's state, "" if there is no process."""
    try:
        return _state(Path(f"/proc/{pid}"))
    except (OSError, IndexError):
        return ""


def is_ready(pid: int) -> bool:
    """Return whether a thread of a process runs, waits for a processor, or waits for a disk."""
    # The kernel counts a wait for a processor only when the wait is over.
    with suppress(OSError, IndexError):  # threads come and go
        for task in Path(f"/proc/{pid}/task").iterdir():
            if _state(task) in ("R", "D"):
                return True
    return False


def _state(process: Path) -> str:
    return (process / "stat").read_text().rsplit(")", 1)[1].split()[0]


def wanted(pid: int) -> int:
    """Return for how many nanoseconds the threads of a process have run or waited for a processor."""
    total = 0
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            ran, waited, *_ = (task / "schedstat").read_text().split()
            total += int(ran) + int(waited)
    except (OSError, ValueError):  # threads come and go
        pass
    return total


class Watch:
    """The watch of one process."""

    def __init__(self) -> None:
        self._since = self._looked = self._wanted = 0
        self.idle = 0.0

    def look(self, pid: int, since: int) -> bool:
        """Look at a process whose step began then, in nanoseconds; return whether the step takes too long."""
        now = time.monotonic_ns()
        if since != self._since:
            self._since, self._looked, self.idle = since, 0, 0.0
        if now - max(since + _SUSPICIOUS * 1e9, self._looked + _STRETCH * 1e9) < 0:
            return False
        wants = wanted(pid)
        if self._looked:
            passed = (now - self._looked) / 1e9
            busy = wants - self._wanted > (now - self._looked) / 4 or is_ready(pid)
            self.idle += min(passed, _MOST) * (_SHARE_OF_BUSY if busy else 1.0)
        self._looked, self._wanted = now, wants
        return self.idle > LIMIT
