"""Who owns a ring: the opening of the arena that has made it, until the last reference there is dropped.

Example: a process makes a ring in a shared arena and passes it to a worker by pickle. When the process drops the ring,
closes the arena or is killed, the memory comes back, and the next call of the worker raises `RingGone`.

Invariant: an `Owner` gives its ring back once, in the process that made it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, Final

from latchfree.arena import Arena, forking
from latchfree.arena.layout import H_OWNED
from latchfree.arena.patience import Patience
from latchfree.errors import ArenaClosed, ArenaFull
from latchfree.streams.border import RING
from latchfree.streams.futex import FUTEX
from latchfree.streams.kernels import roster
from latchfree.streams.kernels.layout import NEWS, ROOM
from latchfree.streams.named import NAMED, hand_over

_TABLE_SLOTS: Final = range(int(roster.FIRST_SLOT), int(roster.TABLE_WORDS), int(roster.SLOT_WORDS))


class Owner:
    """Owns a ring: gives its memory back when nobody here uses the ring any more, or when the arena is closed.

    Parameters
    ----------
    arena : Arena
    capacity : int
    weak : bool

    Attributes
    ----------
    ring : int
        Word offset of the ring.
    mine : bool
        Whether this process is to give the ring back: not twice, and not in a forked child, who owns no ring of its
        parent.
    number : int
        The random number of the ring.

    Raises
    ------
    ArenaFull
        If the arena has no room.
    """

    __slots__ = ("__weakref__", "_arena", "_slot", "mine", "number", "ring")

    rank = 1  # after the rings, which refuse calls from then on

    def __init__(self, arena: Arena, capacity: int, weak: bool) -> None:
        self.ring = 0
        self.mine = False
        self._arena = arena
        RING.prepare("drop", "free")  # not while an interpreter ends
        self.number = int.from_bytes(os.urandom(8), "little") | 1
        if arena.shared:
            _owners[id(arena), self.number] = self  # before there is a ring: a signal handler may fork at any step
        patience = Patience(arena)
        while not self._create(capacity, weak):
            if not patience.make_room():
                raise ArenaFull(
                    f"{arena!r} has no room for a ring of {capacity:,} cells, {16 * capacity:,} bytes; "
                    "use a smaller capacity or a larger arena"
                )
        if arena.shared:
            arena.holdings.add(self)
            watch(arena)

    def _create(self, capacity: int, weak: bool) -> bool:
        arena = self._arena
        create, identity, me = RING.create, 0, 0
        while not me or arena.identity != identity:  # a signal handler may fork, but not between this and the call
            identity = arena.identity
            self.mine = True
            me = arena.interpreter_participant()
        self.ring, self._slot = create(arena.base, me, identity if arena.shared else 0, self.number, capacity - 1, weak)
        return self.ring != 0

    def end(self) -> None:
        """Give the ring back."""
        drop, free = RING.drop, RING.free
        try:
            me = 0 if self._arena.closed else self._arena.interpreter_participant()
        except ArenaClosed:
            me = 0
        # At once, for a signal handler may end the ring, too, or fork: then `disown` leaves the ring to the parent.
        mine, self.mine = self.mine, False
        if not (mine and me and self.ring):
            return
        if self._slot:
            drop(self._arena.base, me, self._slot)
            wake(self._arena, self.ring)
        else:
            free(self._arena.base, me, self.ring)

    def __del__(self) -> None:
        if getattr(self, "mine", False):
            self.end()

    def hand_over(self) -> bool:
        """Make the ring one that the arena has under a name; False in a child that was forked meanwhile."""
        identity, mine = self._arena.identity, self.mine
        self.mine = False
        return mine and hand_over(self._arena, self._slot, identity)

    def disown(self) -> None:
        """Leave the ring to the parent process."""
        self.mine = False


class Nobody:
    """In the place of the owner where a ring is not our own."""

    mine = False


#: Owners of rings in shared arenas, by arena and number.
_owners: weakref.WeakValueDictionary[tuple[int, int], Owner] = weakref.WeakValueDictionary()


def owner_of(arena: Arena, number: int) -> Owner | Nobody:
    """Return the owner of a ring, if this opening of the arena owns it."""
    return _owners.get((id(arena), number)) or Nobody()


def wake(arena: Arena, ring: int) -> None:
    """Wake all who sleep on a word of a ring, also of one that is gone."""
    for word in (NEWS, ROOM):
        FUTEX.wake(arena.base + 8 * (ring + int(word)))


def watch(arena: Arena) -> None:
    """Have the arena's reaper give back the rings of dead openings."""
    if reclaim not in arena.on_death:
        arena.on_death.append(reclaim)


def reclaim(arena: Arena, is_dead: Callable[[int], bool]) -> None:
    """Give back the rings of dead openings, and those that could not be given back before; mend the others.

    Parameters
    ----------
    arena : Arena
        The arena whose rings are looked through.
    is_dead : callable
        Says of the identity of an opening whether the opening is dead.
    """
    words, base, identity = arena.words, arena.base, arena.identity
    table = int(words[H_OWNED])
    if not table:
        return
    while table:
        for slot in _TABLE_SLOTS:
            owner: Any = words[table + slot]
            if owner and owner not in (identity, NAMED) and is_dead(int(owner)):
                RING.adopt(base, table + slot, owner, identity)
            elif owner:
                mended = RING.mend(base, arena.interpreter_participant(), table + slot)
                if mended:
                    wake(arena, mended)
        table = int(words[table + int(roster.NEXT)])
    RING.sweep(base, arena.interpreter_participant(), identity)


def _after_fork_in_child() -> None:
    for owner in list(_owners.values()):
        owner.disown()


forking.in_child(_after_fork_in_child)
