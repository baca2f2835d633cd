"""The state of a shared arena: in use, about to be sealed, sealed; and who changes it, without a lock.

Example: two processes have an arena open and close it at the same moment. Each first gives its byte back to the kernel
(see `latchfree.arena.filelocks`) and then looks whether anybody else has one. The process that looks last sees nobody,
and seals the header: the state becomes CLEAN with the checksum of the header.

Rule for opening: take a byte, then change the state to IN_USE, whatever it is. Rule for closing: give the byte back;
while nobody has one, change IN_USE to SEALING with the own identity, look again, and change that very word to CLEAN
with the checksum.

Invariant: while anybody who has opened the arena may write, the state is not CLEAN. An opener takes the byte before it
looks at the state, and a closer marks the state before it looks at the bytes: so the closer sees the byte, or the
opener sees the mark and replaces it, and then the closer's last change fails. The checksum is part of the word that is
changed, so a closer who was stopped and goes on an hour later changes nothing. Nobody waits for anybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from latchfree.arena import header, layout
from latchfree.arena.border import ARENA
from latchfree.arena.entry import Words

_STATE: Final = layout.H_STATE
#: How often, and how many seconds apart, a closer looks whether another one who is sealing has finished.
_LOOKS: Final = 20
_NAP: Final = 0.001


def prepared() -> None:
    """Make the calls of this module now: at the closing there may be no descriptor left to load them."""
    ARENA.prepare("read_state", "swap_state")


def _swap(words: Words, old: int, new: int) -> bool:
    done: bool = ARENA.swap_state(words.ctypes.data, int(_STATE), old, new)
    return done


def state_of(words: Words) -> int:
    """Return the state word."""
    state: int = ARENA.read_state(words.ctypes.data, int(_STATE))
    return state


def enter(words: Words) -> bool:
    """Mark an arena as in use; the caller has a byte. Return whether the arena was sealed."""
    while True:
        # spec: Lifecycle!OpenRead
        found = state_of(words)
        if found == header.in_use():
            return False
        # spec: Lifecycle!OpenMark
        if _swap(words, found, header.in_use()):
            return header.tag(found) == layout.CLEAN


def leave(words: Words, identity: int, others: Callable[[], bool], to_disk: Callable[[], None]) -> None:
    """Seal an arena unless somebody has it open; the caller has given its byte back and writes no more.

    Parameters
    ----------
    words : ndarray of uint64
        At least the header.
    identity : int
        The caller's.
    others : callable
        Returns whether anybody has a byte.
    to_disk : callable
        Brings all of the arena to disk.
    """
    looks = 0
    # spec: Lifecycle!CloseLook
    while not others():
        # spec: Lifecycle!CloseRead
        found = state_of(words)
        if header.tag(found) == layout.CLEAN or not header.is_of_this_boot(found):
            return
        if header.tag(found) == layout.SEALING and looks < _LOOKS:
            looks += 1  # somebody else is at it, or was stopped there
            time.sleep(_NAP)
            continue
        mine = header.sealing(identity)
        # spec: Lifecycle!CloseMark
        if not _swap(words, found, mine):
            continue
        # spec: Lifecycle!CloseLookAgain -- after the mark (mutant O7).
        if others():
            # spec: Lifecycle!CloseUndo -- if this fails, an opener has replaced the mark.
            _swap(words, mine, header.in_use())
            return
        try:
            # spec: Lifecycle!CloseSum
            to_disk()  # what the seal vouches for comes first
        except OSError:
            _swap(words, mine, header.in_use())
            raise
        # spec: Lifecycle!CloseSeal -- one word for state and checksum (mutant O8). If this fails, an opener has
        # replaced the mark and will seal in the end, or another closer, who is sealing now.
        if _swap(words, mine, header.state(layout.CLEAN, header.checksum(words))):
            to_disk()
        return
