"""The reaper: a thread of each process that adopts what dead processes have left in a shared arena, and frees it.

Example: a process is killed while it is pinned in epoch 7. From then on the epoch stays at 8 or below, so nobody frees
anything. The reaper of any other process notices the death within a quarter of a second, unpins the dead process and
takes over its limbo.
"""

from __future__ import annotations

import errno
import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

from latchfree.arena import layout
from latchfree.arena.entry import Words

#: Seconds between two looks.
_PERIOD = 0.25


class Reapable(Protocol):
    """What the reaper looks after."""

    @property
    def closed(self) -> bool:
        """Whether there is nothing to look after any more."""

    def reap(self) -> None:
        """Adopt what dead processes have left, and free what can be freed."""


def note_epoch(words: Words) -> None:
    """Record when the present epoch was first seen, so that `latchfree arena info` can say how long it is held back."""
    epoch = words[layout.H_EPOCH]
    if words[layout.H_SEEN_EPOCH] != epoch:
        # Two reapers may mix their words up; the next look of one of them puts that right.
        words[layout.H_SEEN_AT] = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        words[layout.H_SEEN_EPOCH] = epoch


def _run(reference: weakref.ref[Reapable]) -> None:
    while True:
        time.sleep(_PERIOD)
        arena = reference()
        if arena is None or arena.closed:
            return
        # Whatever goes wrong once, for want of descriptors or memory, may go right the next time.
        with suppress(Exception):
            arena.reap()
        del arena


def start(arena: Reapable) -> threading.Thread:
    """Start the reaper of an arena, which ends when the arena is closed or dropped here.

    Raises
    ------
    OSError
        If the process can have no further thread.
    """
    thread = threading.Thread(target=_run, args=(weakref.ref(arena),), name="latchfree-arena-reaper", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        text = f"a shared arena needs a thread of its own, and there is none to be had ({error}); raise `ulimit -u`"
        raise OSError(errno.EAGAIN, f"{text}, or the limit of processes of the container") from None
    return thread
