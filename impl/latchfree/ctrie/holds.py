"""What a process holds on to in an arena, given back when the last reference to it is dropped.

A registered snapshot keeps memory from being freed, and a private trie occupies it; Python's reference counts say
when they are not needed any more, and closing the arena ends them all. In a forked child of a process with a shared
arena the holds are the parent's: they are not given back there, and reading through them is refused.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from latchfree.arena import Arena
from latchfree.ctrie.calls import call


def _give_back(name: str, arena: Arena, pid: int, trie: int, slot: int, finalizer: list[Any], owner: object) -> None:
    """Drop a snapshot, or destroy a trie; `owner`, kept alive until then, may follow."""
    arena.holdings.pop(finalizer.pop(), None)
    if not arena.closed and (not arena.shared or os.getpid() == pid):
        call(name)(arena.base, trie, arena.interpreter_participant(), slot)


def _finalize(thing: object, name: str, arena: Arena, trie: int, slot: int, owner: object) -> None:
    call(name)  # compiled now, not while an interpreter ends
    itself: list[Any] = []
    finalizer = weakref.finalize(thing, _give_back, name, arena, os.getpid(), trie, slot, itself, owner)
    finalizer.atexit = arena.shared
    itself.append(finalizer)
    arena.holdings[finalizer] = None


class Hold:
    """A registered snapshot of a trie.

    Parameters
    ----------
    owner : object
        Kept until the snapshot is dropped: the trie must not be destroyed before.
    """

    __slots__ = ("__weakref__", "_pid", "arena", "slot")

    def __init__(self, arena: Arena, trie: int, slot: int, owner: object) -> None:
        self.arena = arena
        self.slot = slot
        self._pid = os.getpid()
        _finalize(self, "drop", arena, trie, slot, owner)

    def touch(self) -> None:
        """Make sure that the snapshot may be read here.

        Raises
        ------
        ArenaClosed
            After the arena was closed.
        RuntimeError
            In a forked child, if the arena is shared: the snapshot is the parent's, who may drop it any time.
        """
        if not self.arena.shared:
            return
        if os.getpid() != self._pid:
            raise RuntimeError(
                "this snapshot of a shared arena was taken before the fork and belongs to the parent process; "
                "take a new one in the child"
            )
        self.arena.interpreter_participant()


class Lineage:
    """A trie of this process's own; its memory comes back when nobody uses it any more.

    Parameters
    ----------
    parent : Hold, optional
        What the trie goes on from, for a writable snapshot: dropped only after it.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, arena: Arena, trie: int, parent: Hold | None = None) -> None:
        _finalize(self, "destroy", arena, trie, parent.slot if parent else 0, parent)
