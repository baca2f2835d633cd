"""Locks on a file that say which openings of the file are alive (open file description locks of Linux).

Example: an arena is opened and gets the identity 4711. The opening locks byte ``FIRST + 4711`` of the file for itself
alone. Another process asks the kernel whether anybody has that byte: yes, as long as the opening lives.

Invariant: each opening of a file locks for itself. Two openings exclude each other even within one process, and closing
one leaves the locks of the other alone: neither holds for ``flock`` or for the older record locks. The kernel gives a
lock back with the last reference to its opening: a descriptor, or a mapping made through the descriptor. So the lock of
a mapped arena outlives descriptors that somebody closes underneath, and ends with exit, exec, kill or unmapping, true
for every process on the machine, whatever its namespace of process ids.

A lock is on one byte, far behind any content; nothing is written. No function here waits.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from typing import Final

if sys.platform == "linux":
    import fcntl

#: The first byte that is locked: that of identity 0, which no opening has.
_FIRST: Final = 1 << 62

#: Identities are from 1 up to, but not including, this.
IDENTITIES: Final = 1 << 47

# struct flock of 64-bit Linux: type, whence, start, length, pid
_FLOCK = struct.Struct("@hhqqi4x")


def require_linux() -> None:
    """Raise `OSError` on other systems."""
    if sys.platform != "linux":
        raise OSError(
            f"shared arenas need Linux (open file description locks), this is {sys.platform}; private maps work here"
        )


def _request(kind: int, start: int, end: int) -> bytes:
    return _FLOCK.pack(kind, os.SEEK_SET, _FIRST + start, end - start, 0)


def _try(fd: int, start: int, end: int) -> bool:
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _request(fcntl.F_WRLCK, start, end))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def take(fd: int, identity: int) -> bool:
    """Take the byte of an identity; False if another opening has the byte, or all of them."""
    return _try(fd, identity, identity + 1)


def take_all(fd: int) -> bool:
    """Take the bytes of all identities, so that nobody else can open the file; False if another opening has one."""
    return _try(fd, 0, IDENTITIES)


def give_back(fd: int) -> None:
    """Give back all that this opening has taken."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _request(fcntl.F_UNLCK, 0, IDENTITIES))


def _is_taken(fd: int, start: int, end: int) -> bool:
    """Return whether another opening than that of the descriptor has taken a byte of a range."""
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _request(fcntl.F_WRLCK, start, end))
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)


def is_taken(fd: int, identity: int) -> bool:
    """Return whether another opening than that of the descriptor has the byte of an identity."""
    return _is_taken(fd, identity, identity + 1)


def anybody(fd: int) -> bool:
    """Return whether another opening than that of the descriptor has the byte of any identity."""
    return _is_taken(fd, 0, IDENTITIES)


def others(fd: int, identity: int) -> bool:
    """Return whether anybody has the byte of another identity than this one; `fd` is of any opening of the file."""
    return _is_taken(fd, 0, identity) or _is_taken(fd, identity + 1, IDENTITIES)


def reopen(fd: int, descriptors: list[int]) -> int:
    """Return a descriptor of a new opening of the same file, without locks, whatever has become of its name.

    The descriptor is appended to `descriptors` in the step that makes it: no signal handler comes in between.
    """
    descriptors.extend(map(os.open, [f"/proc/self/fd/{fd}"], [os.O_RDWR | os.O_CLOEXEC]))
    return descriptors[-1]
