"""Giving back what a dead process held: its snapshots, and the private tries it made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from latchfree.arena import Arena
from latchfree.arena.processes import Identity, own_identity
from latchfree.arena.shape import SNAPSHOTS
from latchfree.atomics import cas, store
from latchfree.ctrie.calls import call
from latchfree.ctrie.registry import DROPPED, FIRST_SLOT, FORK, GEN, NEXT, PID, SLOTS, START, STATE, TAKEN
from latchfree.jit import entry, entry_point
from latchfree.kinds import Flag, Handle, Word


@entry
def _inherit(mem: Handle, slot: Word, start: Word, my_pid: Word, my_start: Word) -> Flag:
    """Make a dead process's snapshot ours; True if nobody was faster."""
    # Killed between the two writes, we leave an identity that nobody has, which is dead as well.
    if not cas(mem, slot + START, start, my_start):
        return False
    store(mem, slot + PID, my_pid)
    return True


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


def give_back(arena: Arena, trie: int, is_dead: Callable[[Identity], bool]) -> int:
    """Drop the snapshots of a trie that dead processes held; returns how many."""
    words = arena.words
    me = own_identity()
    dropped = 0
    left_over = False
    for slot in _slots(arena, trie):
        state = int(words[slot + int(STATE)])
        left_over |= state == int(DROPPED)
        owner = int(words[slot + int(PID)]), int(words[slot + int(START)])
        if state != int(TAKEN) or not words[slot + int(GEN)] or not is_dead(owner):
            continue
        inherit = entry_point(_inherit, *[types.uint64] * 5)
        if not inherit(arena.base, slot, owner[1], *me):
            continue
        fork = int(words[slot + int(FORK)])
        if fork:
            # Whoever owned the private trie owned everything made from it.
            give_back(arena, fork, lambda identity: True)
            call("destroy")(arena.base, fork, arena.interpreter_participant())
            words[slot + int(FORK)] = 0
        call("drop")(arena.base, trie, arena.interpreter_participant(), slot)
        dropped += 1
    if left_over:
        call("sweep")(arena.base, trie, arena.interpreter_participant())
    return dropped


def give_back_all(arena: Arena, is_dead: Callable[[Identity], bool]) -> Any:
    """`give_back` for every trie in the arena's directory."""
    for structure in arena.structures().values():
        give_back(arena, structure.root, is_dead)
