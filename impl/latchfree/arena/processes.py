"""Which processes are alive.

Example: process 1234, started 5000 clock ticks after boot, has the identity ``5000 << 22 | 1234``. When it has died and
another process gets the id 1234, the start times differ, so the new one is not taken for the old one.

An *identity* is one word, so that it can be compared and swapped: the start time above 22 bits of process id.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_ID_BITS = 22  # no Linux process has a larger id than 2**22


def _stat(pid: int) -> tuple[str, int] | None:
    """Return state and start time (in clock ticks since boot) of a process, None if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0].decode(), int(fields[19])


@cache
def _own(pid: int) -> int:
    found = _stat(pid)
    return (found[1] if found else 0) << _ID_BITS | pid


def own_identity() -> int:
    """Return the identity of this process."""
    return _own(os.getpid())


def process_id(identity: int) -> int:
    """Return the process id in an identity."""
    return identity & ((1 << _ID_BITS) - 1)


def is_alive(identity: int) -> bool:
    """Return whether a process still runs or could run again; a stopped process is alive."""
    found = _stat(process_id(identity))
    return found is not None and found[1] == identity >> _ID_BITS and found[0] not in "ZX"
