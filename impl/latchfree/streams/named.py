"""Named rings: rings that belong to an arena, under a name of its directory, and to no opening.

Example: one process makes ``RingBuffer.create(arena, "jobs", 1024)`` and ends. Another opens the ring by its name and
gets what was put.

Invariant: the slot of a named ring in the roster has the owner `NAMED`, which is no opening's identity, so no reaper
takes the ring for one that a dead opening has left; all reapers mend it. A ring is made in the slot of the opening that
makes it, and handed over when it is whole; it is given back by taking the slot over again, which one can do.
"""

from __future__ import annotations

from typing import Any, Final

from latchfree.arena import Arena
from latchfree.arena.border import ARENA
from latchfree.arena.layout import H_OWNED
from latchfree.streams.border import RING
from latchfree.streams.kernels import roster

#: In the place of the identity of an opening.
NAMED: Final = (1 << 64) - 1

_SLOTS: Final = range(int(roster.FIRST_SLOT), int(roster.TABLE_WORDS), int(roster.SLOT_WORDS))


def slot_of(words: Any, ring: int, owner: int = NAMED) -> int:
    """Return the slot of a ring in the roster that belongs to an owner, 0 if there is none."""
    table = int(words[H_OWNED])
    while table:
        for slot in _SLOTS:
            if int(words[table + slot + int(roster.RING)]) == ring and int(words[table + slot]) == owner:
                return table + slot
        table = int(words[table + int(roster.NEXT)])
    return 0


def hand_over(arena: Arena, slot: int, identity: int) -> bool:
    """Make a ring of this opening one that the arena has under a name; False in a child that was forked meanwhile."""
    change = ARENA.change_entry
    return bool(change(arena.base, slot, identity, NAMED))


def give_back(arena: Arena, ring: int) -> None:
    """Refuse calls of a named ring from now on, and free its memory as soon as nobody can be in one."""
    slot = slot_of(arena.words, ring)
    if slot:
        adopt, sweep, identity = RING.adopt, RING.sweep, arena.identity
        adopt(arena.base, slot, NAMED, identity)
        for _ in range(int(roster.SLOT_WORDS) + 1):  # each advances the epoch, if nobody is pinned
            sweep(arena.base, arena.interpreter_participant(), identity)
