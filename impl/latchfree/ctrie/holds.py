"""What a process holds on to in an arena, given back when the last reference to it is dropped.

A registered snapshot keeps memory from being freed, and a private trie occupies it; Python's reference counts say
when they are not needed any more, and closing a shared arena ends them all. In a forked child of a process with a
shared arena they are the parent's: they are not given back there, and reading through them is refused.

Invariant: a snapshot is dropped while its trie is there, and a trie is destroyed after all that was made from it. The
garbage collector finalizes a cycle in any order, so a trie that ends takes along what it finds in its own registry.
"""

from __future__ import annotations

from os import getpid
from typing import TYPE_CHECKING, Any

from latchfree.arena import Arena
from latchfree.ctrie.kernels.entrypoints import call
from latchfree.ctrie.kernels.registry import FROZEN
from latchfree.ctrie.recovery import reclaim

if TYPE_CHECKING:
    from latchfree.ctrie.store import Store

_FROZEN = int(FROZEN)


class Hold:
    """A registered snapshot of a trie.

    Attributes
    ----------
    slot : int
        Its slot in the registry; 0 when it was given back.
    """

    __slots__ = ("__weakref__", "_pid", "slot", "store")

    rank = 1  # after the tries, which take their snapshots along

    def __init__(self, store: Store, slot: int) -> None:
        self.slot = slot
        self.store = store
        if store.shared:
            self._pid = getpid()
            store.arena.holdings.add(self)

    @property
    def root(self) -> int:
        """The root I-node of the frozen tree."""
        return int(self.store.arena.words[self.slot + _FROZEN])

    def end(self, getpid: Any = getpid) -> None:
        """Give the snapshot back."""
        slot = self.slot
        if slot == 0:
            return
        self.slot = 0
        store = self.store
        if store.shared and (store.arena.closed or getpid() != self._pid):
            return
        if store.owner is None or not store.owner.gone:
            store.drop(slot)

    __del__ = end

    def touch(self) -> None:
        """Make sure that the snapshot may be read here.

        Raises
        ------
        ArenaClosed
            After the arena was closed.
        RuntimeError
            In a forked child, if the arena is shared: the snapshot is the parent's, who may drop it any time.
        """
        if not self.store.shared:
            return
        if getpid() != self._pid:
            raise RuntimeError(
                "this snapshot of a shared arena was taken before the fork and belongs to the parent process; "
                "take a new one in the child"
            )
        self.store.arena.interpreter_participant()


class Lineage:
    """A trie of this process's own; its memory comes back when nobody uses it any more.

    Parameters
    ----------
    parent : Hold, optional
        What the trie goes on from, for a writable snapshot: given back only after it.
    """

    __slots__ = ("__weakref__", "_arena", "_destroy", "_ended", "_parent", "_pid", "_trie")

    rank = 0

    def __init__(self, arena: Arena, trie: int, parent: Hold | None = None) -> None:
        self._ended = False
        self._arena = arena
        self._trie = trie
        self._parent = parent
        self._pid = getpid()
        self._destroy = call("destroy")  # compiled now, not while an interpreter ends
        if arena.shared:
            arena.holdings.add(self)

    @property
    def gone(self) -> bool:
        """Whether the trie was destroyed, or one that it goes on from."""
        if self._ended or self._parent is None:
            return self._ended
        owner = self._parent.store.owner
        return owner is not None and owner.gone

    def end(self, getpid: Any = getpid, reclaim: Any = reclaim) -> None:
        """Destroy the trie, and what was made from it."""
        arena = self._arena
        if self.gone or arena.closed or (arena.shared and getpid() != self._pid):
            return
        self._ended = True
        reclaim(arena, self._trie, lambda identity: True)
        slot = 0 if self._parent is None else self._parent.slot
        self._destroy(arena.base, self._trie, arena.interpreter_participant(), slot)

    __del__ = end
