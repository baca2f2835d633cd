"""A thread that looks after a shared arena: it takes over what dead processes have left there, and frees it.

A process that dies while pinned holds up everybody's reclamation; nobody else need notice, so somebody must look.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latchfree.arena.arena import Arena

#: Seconds between two looks.
_PERIOD = 0.25


def _look_after(reference: weakref.ref[Arena]) -> None:
    while True:
        time.sleep(_PERIOD)
        arena = reference()
        if arena is None or arena.closed:
            return
        arena.look_after()
        del arena


def keep(arena: Arena) -> threading.Thread:
    """Start looking after an arena, for as long as it is open here."""
    thread = threading.Thread(
        target=_look_after, args=(weakref.ref(arena),), name="latchfree-arena-keeper", daemon=True
    )
    thread.start()
    return thread
