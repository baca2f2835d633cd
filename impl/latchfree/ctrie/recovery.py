"""Recovery: reclaim the snapshots, and the private tries, that dead processes left in an arena.

Example: a process takes a snapshot of a shared Ctrie and is killed. Its slot in the registry still names the process,
so every later removal waits on the slot's deadlist. A living process finds that the owner is dead, adopts the slot and
drops the snapshot, and the memory is free again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from latchfree.arena import Arena
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.kernels.registry import DROPPED, FIRST_SLOT, FORK, GEN, NEXT, OWNER, STATE, TABLE_SLOTS
from latchfree.ctrie.kernels.shape import SNAPSHOTS
from latchfree.errors import MadeBeforeFork
from latchfree.structures import TRIES


def _slots(arena: Arena, trie: int) -> list[int]:
    """Return all snapshot slots of a trie."""
    words = arena.words
    slots: list[int] = []
    table = int(words[trie + int(SNAPSHOTS)])
    while table:
        first = table + int(FIRST_SLOT)
        slots += range(first, first + int(TABLE_SLOTS))
        table = int(words[table + int(NEXT)])
    return slots


def reclaim(arena: Arena, trie: int, is_dead: Callable[[int], bool], identity: int) -> int:
    """Drop the snapshots of a trie whose owners are dead, and destroy the private tries made from them.

    Parameters
    ----------
    arena : Arena
        The arena of the trie.
    trie : int
        Word offset of the trie's root word.
    is_dead : callable
        Says of the identity of a process whether the process is dead.
    identity : int
        The identity of the opening that reclaims.

    Returns
    -------
    int
        How many snapshots were dropped.

    Raises
    ------
    MadeBeforeFork
        In a child that a signal handler forks meanwhile: the parent does the rest.
    """
    words = arena.words
    adopt, discard, destroy, drop, sweep = TRIE.adopt, TRIE.discard, TRIE.destroy, TRIE.drop, TRIE.sweep
    dropped = 0
    left_over = False
    for slot in _slots(arena, trie):
        owner = int(words[slot + int(OWNER)])
        if not owner or not is_dead(owner):
            continue
        if words[slot + int(STATE)] == DROPPED:
            left_over = True
            continue
        arena.interpreter_participant(identity)  # is this the process still?
        if adopt(arena.base, slot, owner, identity):
            if words[slot + int(GEN)] == 0:
                arena.interpreter_participant(identity)
                discard(arena.base, slot)
                continue
            fork = int(words[slot + int(FORK)])
            if fork:
                # The owner of a private trie owned everything made from it.
                reclaim(arena, fork, lambda identity: True, identity)
                destroy(arena.base, fork, arena.interpreter_participant(identity), slot)
            drop(arena.base, trie, arena.interpreter_participant(identity), slot)
            dropped += 1
    if left_over:
        sweep(arena.base, trie, arena.interpreter_participant())
    return dropped


def reclaim_all(arena: Arena, is_dead: Callable[[int], bool]) -> None:
    """Reclaim what dead processes left in every trie of the arena's directory.

    Parameters
    ----------
    arena : Arena
        The arena whose tries are looked through.
    is_dead : callable
        As for `reclaim`.
    """
    identity = arena.identity
    with suppress(MadeBeforeFork):
        for structure in arena.structures().values():
            if structure.kind in TRIES:
                reclaim(arena, structure.root, is_dead, identity)
