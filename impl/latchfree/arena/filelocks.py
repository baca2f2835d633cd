"""Locks on a file that belong to one opening of the file (open file description locks of Linux).

Example: everybody who has an arena open shares the lock `USERS`. A process that asks whether any *other* opening has it
learns whether the process is alone, and a process that is killed gives its share back.

Invariant: each opening of a file locks for itself. Two openings exclude each other even within one process, closing
one leaves the locks of the other alone, and turning a shared lock into an exclusive one never gives it up in between:
none of this holds for ``flock`` or for the older record locks. A lock goes with the last descriptor of its opening, so
a process that is killed leaves none.

A lock is on one byte, far behind any content; nothing is written.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "linux":
    import fcntl

_FIRST_BYTE = 1 << 62

#: Held by whoever is just opening or closing the arena.
GATE = 0
#: Shared by everybody who has the arena open.
USERS = 1
#: Held by whoever reads or changes the directory of structures.
DIRECTORY = 2

# struct flock of 64-bit Linux: type, whence, start, length, pid
_FLOCK = struct.Struct("@hhqqi4x")


def require_linux() -> None:
    """Raise `OSError` on other systems."""
    if sys.platform != "linux":
        raise OSError(f"arenas need Linux (MAP_NORESERVE memory, open file description locks), this is {sys.platform}")


def _request(kind: int, byte: int) -> bytes:
    return _FLOCK.pack(kind, os.SEEK_SET, _FIRST_BYTE + byte, 1, 0)


def share(fd: int, byte: int) -> None:
    """Take a shared lock, waiting for an exclusive one to go."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, _request(fcntl.F_RDLCK, byte))


def unlock(fd: int, byte: int) -> None:
    """Give up the lock that this opening has on the byte, if any."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _request(fcntl.F_UNLCK, byte))


def others(fd: int, byte: int) -> bool:
    """Return whether any other opening of the file, here or in another process, has a lock on the byte."""
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _request(fcntl.F_WRLCK, byte))
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)


@contextmanager
def held(fd: int, byte: int) -> Iterator[None]:
    """Hold an exclusive lock, waiting until no other opening has a lock on the byte."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, _request(fcntl.F_WRLCK, byte))
    try:
        yield
    finally:
        unlock(fd, byte)


def reopen(fd: int) -> int:
    """Return a descriptor of a new opening of the same file, without locks, whatever has become of its name."""
    return os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_CLOEXEC)
