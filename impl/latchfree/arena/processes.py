"""Which processes are alive.

A process is known by its id and its start time, as ids are used again. Both make up one word, its *identity*, so
that it can be compared and swapped: the start time, in clock ticks since boot, above 22 bits of id.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_ID_BITS = 22  # no Linux process has a larger id than 2**22


def _stat(pid: int) -> tuple[str, int] | None:
    """State and start time (in clock ticks since boot) of a process, None if there is none."""
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
    """The identity of this process."""
    return _own(os.getpid())


def process_id(identity: int) -> int:
    """The process id in an identity."""
    return identity & ((1 << _ID_BITS) - 1)


def is_alive(identity: int) -> bool:
    """Whether a process still runs or could run again; one that is stopped counts as alive."""
    found = _stat(process_id(identity))
    return found is not None and found[1] == identity >> _ID_BITS and found[0] not in "ZX"
