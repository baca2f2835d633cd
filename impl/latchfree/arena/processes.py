"""Which processes are alive. A process is known by its id and its start time, as ids are used again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

Identity = tuple[int, int]


def _stat(pid: int) -> tuple[str, int] | None:
    """State and start time (in clock ticks since boot) of a process, None if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0].decode(), int(fields[19])


@cache
def _own(pid: int) -> Identity:
    found = _stat(pid)
    return pid, found[1] if found else 0


def own_identity() -> Identity:
    """Id and start time of this process."""
    return _own(os.getpid())


def is_alive(identity: Identity) -> bool:
    """Whether a process still runs or could run again; one that is stopped counts as alive."""
    found = _stat(identity[0])
    return found is not None and found[1] == identity[1] and found[0] not in "ZX"
