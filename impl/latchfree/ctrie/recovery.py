"""Giving back what a dead process held: its snapshots, and the private tries it made from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from latchfree.arena import Arena
from latchfree.arena.processes import own_identity
from latchfree.atomics import cas, store
from latchfree.ctrie.kernels.entrypoints import call
from latchfree.ctrie.kernels.registry import CLOSED, DROPPED, FIRST_SLOT, FORK, GEN, HEAD, NEXT, OWNER, SLOTS, STATE
from latchfree.ctrie.kernels.shape import SNAPSHOTS
from latchfree.jit import entry
from latchfree.kinds import Flag, Handle, Word


@entry
def _inherit(mem: Handle, slot: Word, owner: Word, me: Word) -> Flag:
    """Make a dead process's slot ours; True if nobody was faster."""
    # spec: none -- processes that die are not modelled.
    return cas(mem, slot + OWNER, owner, me)


@entry
def _forget(mem: Handle, slot: Word) -> None:
    """Free a slot of ours that was never registered.

    It may have been counted: then the count stays too high, which costs time only.
    """
    # spec: none -- processes that die are not modelled.
    store(mem, slot + HEAD, CLOSED)
    # spec: none -- as above.
    store(mem, slot + OWNER, np.uint64(0))


def _slots(arena: Arena, trie: int) -> list[int]:
    """All snapshot slots of a trie."""
    words = arena.words
    slots: list[int] = []
    table = int(words[trie + int(SNAPSHOTS)])
    while table:
        first = table + int(FIRST_SLOT)
        slots += range(first, first + int(SLOTS))
        table = int(words[table + int(NEXT)])
    return slots


def reclaim(arena: Arena, trie: int, is_dead: Callable[[int], bool]) -> int:
    """Drop the snapshots of a trie that dead processes held; returns how many."""
    words = arena.words
    base, me = np.uint64(arena.base), np.uint64(own_identity())
    dropped = 0
    left_over = False
    for slot in _slots(arena, trie):
        owner = int(words[slot + int(OWNER)])
        if not owner or not is_dead(owner):
            continue
        if words[slot + int(STATE)] == DROPPED:
            left_over = True
        elif _inherit(base, np.uint64(slot), np.uint64(owner), me):
            if words[slot + int(GEN)] == 0:
                _forget(base, np.uint64(slot))
                continue
            fork = int(words[slot + int(FORK)])
            if fork:
                # Whoever owned the private trie owned everything made from it.
                reclaim(arena, fork, lambda identity: True)
                call("destroy")(arena.base, fork, arena.interpreter_participant(), slot)
            call("drop")(arena.base, trie, arena.interpreter_participant(), slot)
            dropped += 1
    if left_over:
        call("sweep")(arena.base, trie, arena.interpreter_participant())
    return dropped


def reclaim_all(arena: Arena, is_dead: Callable[[int], bool]) -> None:
    """`reclaim` for every trie in the arena's directory."""
    for structure in arena.structures().values():
        reclaim(arena, structure.root, is_dead)
