"""The reaper: a thread of each process that adopts what dead processes have left in a shared arena, and frees it.

Example: a process is killed while it is pinned in epoch 7. From then on the epoch stays at 8 or below, so nobody frees
anything. The reaper of any other process notices the death within a quarter of a second, unpins the dead process and
takes over its limbo.
"""

from __future__ import annotations

import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

#: Seconds between two looks.
_PERIOD = 0.25


class Reapable(Protocol):
    """What the reaper looks after."""

    @property
    def closed(self) -> bool:
        """Whether there is nothing to look after any more."""

    def reap(self) -> None:
        """Adopt what dead processes have left, and free what can be freed."""


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
    """Start the reaper of an arena, which ends when the arena is closed or dropped here."""
    thread = threading.Thread(target=_run, args=(weakref.ref(arena),), name="latchfree-arena-reaper", daemon=True)
    thread.start()
    return thread
