"""What a process holds on to in an arena, given back when the last reference to it is dropped.

A registered snapshot keeps memory from being freed, and a private trie occupies it; Python's reference counts say
when they are not needed any more. In a forked child of a process with a shared arena the holds are the parent's:
they are not given back there, and reading through them is refused.
"""

from __future__ import annotations

import os
import weakref

from latchfree.arena import Arena
from latchfree.ctrie.calls import call

_PATIENCE = 4


def _give_back(name: str, arena: Arena, pid: int, trie: int, slot: int | None, owner: object) -> None:
    """Drop a snapshot, or destroy a trie; `owner`, kept alive until then, may follow."""
    if arena.closed or (arena.shared and os.getpid() != pid):
        return
    more = () if slot is None else (slot,)
    for _ in range(_PATIENCE):
        if call(name)(arena.base, trie, arena.interpreter_participant(), *more) is not False:
            return
        arena.collect()  # too full for the little that destroying takes


class Hold:
    """A registered snapshot of a trie.

    Parameters
    ----------
    owner : object
        Kept until the snapshot is dropped: the trie must not be destroyed before.
    """

    __slots__ = ("__weakref__", "_drop", "_pid", "arena", "slot")

    def __init__(self, arena: Arena, trie: int, slot: int, owner: object) -> None:
        self.arena = arena
        self.slot = slot
        self._pid = os.getpid()
        call("drop")  # compiled now, not while an interpreter ends
        self._drop = weakref.finalize(self, _give_back, "drop", arena, self._pid, trie, slot, owner)
        self._drop.atexit = arena.shared

    def touch(self) -> None:
        """Make sure that the snapshot may be read here.

        Raises
        ------
        RuntimeError
            In a forked child, if the arena is shared: the snapshot is the parent's, who may drop it any time.
        """
        if self.arena.shared and os.getpid() != self._pid:
            raise RuntimeError(
                "this snapshot of a shared arena was taken before the fork and belongs to the parent process; "
                "take a new one in the child"
            )


class Lineage:
    """A trie of this process's own; its memory comes back when nobody uses it any more.

    Parameters
    ----------
    parent : object
        What the trie goes on from, for a writable snapshot: dropped only after it.
    """

    __slots__ = ("__weakref__", "_destroy")

    def __init__(self, arena: Arena, trie: int, parent: object = None) -> None:
        call("destroy")
        self._destroy = weakref.finalize(self, _give_back, "destroy", arena, os.getpid(), trie, None, parent)
        self._destroy.atexit = arena.shared
