"""`Arena`: a region of words, its header, and the threads that take part in it."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from latchfree.arena import layout
from latchfree.arena.participants import claim, release
from latchfree.errors import ParticipantsExhausted
from latchfree.jit import entry_point

_HUGE = 2 << 20
_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Linux; a name since Python 3.13
_MINIMUM_BYTES = 2 << 20
_MAXIMUM_BYTES = 1 << 42

#: Capacity of an arena nobody sized: virtual memory only, committed page by page as it is used.
DEFAULT_CAPACITY = 64 << 30


def _process_start() -> int:
    """Start time of this process in clock ticks since boot (with the pid, a process's identity)."""
    return int(Path("/proc/self/stat").read_bytes().rsplit(b")", 1)[1].split()[19])


@cache
def _release() -> Callable[[int, int], None]:
    return entry_point(release, types.uint64, types.uint64)


class _Claim:
    """A thread's slot; dropping the last reference, which thread exit does, releases it."""

    __slots__ = ("__weakref__", "_finalizer", "slot")

    def __init__(self, arena: Arena, slot: int) -> None:
        self.slot = slot
        base, pid, region = arena.base, os.getpid(), arena._region
        give = _release()  # compiled now, not while the thread ends

        def give_back(_keep_mapped: Any = region) -> None:
            # A forked child inherits the object but not the claim.
            if os.getpid() == pid:
                give(base, slot)

        self._finalizer = weakref.finalize(self, give_back)
        self._finalizer.atexit = False


class Arena:
    """Memory for lock-free structures: 64-bit words addressed by offset.

    Use `Arena.anonymous`; the constructor takes an already mapped region.

    Attributes
    ----------
    capacity : int
        Size of the region in bytes.
    words : ndarray of uint64
        The whole region.
    base : int
        Address at which this process sees word 0.
    """

    def __init__(self, region: mmap.mmap) -> None:
        self._region = region
        self.words: NDArray[np.uint64] = np.frombuffer(region, dtype=np.uint64)
        self.capacity = len(region)
        self.base: int = self.words.ctypes.data
        self._pid = os.getpid()
        self._local = threading.local()
        self._gil_slot = 0

    @classmethod
    def anonymous(cls, capacity: int = DEFAULT_CAPACITY) -> Arena:
        """A new arena in private memory of this process.

        Parameters
        ----------
        capacity : int
            Bytes of address space, rounded up to 2 MiB. Pages are committed when first written.

        Raises
        ------
        ValueError
            If `capacity` is below 2 MiB or above 4 TiB.
        """
        if not _MINIMUM_BYTES <= capacity <= _MAXIMUM_BYTES:
            raise ValueError(
                f"arena capacity must be between {_MINIMUM_BYTES} bytes (2 MiB) and {_MAXIMUM_BYTES} bytes "
                f"(4 TiB), got {capacity}"
            )
        if not sys.platform.startswith("linux"):
            raise OSError(f"arenas need Linux (MAP_NORESERVE memory), this is {sys.platform}")
        size = -(-capacity // _HUGE) * _HUGE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        region = mmap.mmap(-1, size, flags=flags)
        with suppress(OSError, AttributeError):  # a hint; not every kernel knows it
            region.madvise(mmap.MADV_HUGEPAGE)
        arena = cls(region)
        arena._format()
        return arena

    def _format(self) -> None:
        words = self.words
        words[layout.H_VERSION] = layout.LAYOUT_VERSION
        words[layout.H_CAPACITY] = len(words)
        words[layout.H_BUMP] = layout.FIRST_NODE
        words[layout.H_PARTICIPANTS] = layout.PARTICIPANTS
        words[layout.H_PARTICIPANT_COUNT] = layout.PARTICIPANT_COUNT
        words[layout.H_DIRECTORY] = layout.DIRECTORY
        words[layout.H_CHUNK] = min(max(len(words) // 256, 1024), 65536)
        words[layout.H_MAGIC] = layout.MAGIC

    def participant(self) -> int:
        """Word offset of the calling thread's slot, claimed at its first use and released when the thread ends.

        Raises
        ------
        ParticipantsExhausted
            If all slots belong to live threads.
        """
        try:
            return self._local.claim.slot  # type: ignore[no-any-return]
        except AttributeError:
            claimed = _Claim(self, self._claim_slot())
            self._local.claim = claimed
            return claimed.slot

    def interpreter_participant(self) -> int:
        """Word offset of the slot of whoever holds the interpreter lock.

        Single calls never release the lock, so they cannot overlap and share one slot for all threads.
        """
        if self._gil_slot == 0:
            if not getattr(sys, "_is_gil_enabled", lambda: True)():
                raise RuntimeError("single calls rely on the interpreter lock; free-threaded Python is not supported")
            self._gil_slot = self._claim_slot()
        return self._gil_slot

    def _claim_slot(self) -> int:
        slot = int(claim(np.uint64(self.base), np.uint64(os.getpid()), np.uint64(_process_start())))
        if slot == 0:
            raise ParticipantsExhausted(
                f"all {layout.PARTICIPANT_COUNT} participant slots of the arena are in use by live threads; "
                "let some threads finish, or use fewer"
            )
        return slot

    @property
    def used(self) -> int:
        """Bytes given to participants so far, the header included."""
        return int(self.words[layout.H_BUMP]) * 8

    def __repr__(self) -> str:
        return f"<Arena {self.used:,} of {self.capacity:,} bytes used>"
