"""Holds: what this process keeps from being freed in an arena, until the last Python reference to it is dropped.

Example: ``with trie.readonly_snapshot() as before: ...`` registers a snapshot. Its `Hold` keeps the nodes that the
snapshot sees; the end of the block drops the last reference to the hold, and so the snapshot.

A `Hold` is a registered snapshot; an `Owner` is a private trie. Both belong to one opening of the arena: closing it
ends them all. After a fork those of a shared arena belong to the parent: the child does not give them back and cannot
read through them.

Finalizers run anywhere: between two lines of any code, in a signal handler, while the interpreter ends. They do what
single calls do, with the interpreter lock from start to end. No such call is ever interrupted by a finalizer, for
compiled code makes no object that the garbage collector knows. While the interpreter ends they do nothing: shared
arenas are closed by then, and the memory of the others goes anyway.

Invariant: a snapshot is dropped while its trie is there, and a trie is destroyed after everything made from it. The
garbage collector finalizes a cycle in any order, so a trie that ends also takes the snapshots in its own registry. A
trie ends after all finalizers of the cycle have run, for they may use the map.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from latchfree.arena import Arena
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.kernels.registry import FROZEN
from latchfree.ctrie.recovery import reclaim
from latchfree.ctrie.references import settle
from latchfree.errors import ArenaClosed, MadeBeforeFork

_FROZEN: Final = int(FROZEN)


class Registered(Protocol):
    """The trie that a snapshot is registered with: the part of a `Store` that a `Hold` needs."""

    @property
    def arena(self) -> Arena:
        """Return the arena that holds the trie."""

    @property
    def shared(self) -> bool:
        """Return whether other processes can open the arena."""

    @property
    def owner(self) -> Owner | None:
        """Return the owner of the trie, if the trie is private."""

    @property
    def drop(self) -> Callable[[int], Any]:
        """Return the function that drops the snapshot in a slot."""


class Taken(Protocol):
    """A snapshot, as a call reads it."""

    @property
    def root(self) -> int:
        """Return the word offset of the root I-node."""

    @property
    def taker(self) -> int:
        """Return the identity of the opening that took the snapshot."""


class Hold:
    """A registered snapshot of a trie.

    Parameters
    ----------
    trie : Registered
    slot : int
        Slot of the snapshot in the registry of the trie.
    taker : int
        The identity of the opening that took the snapshot.

    Attributes
    ----------
    trie : Registered
    slot : int
        0 after the snapshot was given back.
    taker : int
    """

    __slots__ = ("__weakref__", "slot", "taker", "trie")

    rank = 1  # closing an arena ends the private tries first, which take their snapshots along

    def __init__(self, trie: Registered, slot: int, taker: int) -> None:
        self.trie = trie
        self.taker = taker
        self.slot = slot  # last: a signal handler may raise between any two steps, and `end` is called all the same
        if trie.shared:
            trie.arena.holdings.add(self)

    @property
    def root(self) -> int:
        """Word offset of the root I-node of the frozen tree."""
        return int(self.trie.arena.words[self.slot + _FROZEN])

    def end(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """Give the snapshot back."""
        slot = getattr(self, "slot", 0)
        if slot == 0 or finalizing():
            return
        self.slot = 0
        trie = self.trie
        if trie.shared and (trie.arena.closed or trie.arena.forked_since(self.taker)):
            return
        if trie.owner is None or not trie.owner.gone:
            trie.drop(slot)

    __del__ = end

    def touch(self) -> None:
        """Check that this process may read the snapshot now.

        Raises
        ------
        ArenaClosed
            After the arena was closed.
        MadeBeforeFork
            In a forked child, if the arena is shared: the parent may drop the snapshot at any time.
        """
        if self.trie.shared:
            self.trie.arena.interpreter_participant(self.taker)


class Owner:
    """Owns a private trie: destroys the trie when nobody uses it any more.

    Parameters
    ----------
    arena : Arena
    trie : int
        Word offset of the trie's root word.
    maker : int
        The identity of the opening that made the trie.
    parent : Hold, optional
        Snapshot that a writable snapshot goes on from; given back after the trie.
    objects : bool
        Whether the trie holds objects by reference, which are let go of in the end.

    Attributes
    ----------
    maker : int
    """

    __slots__ = ("__weakref__", "_arena", "_destroy", "_ended", "_objects", "_parent", "_trie", "maker")

    rank = 0

    def __init__(
        self, arena: Arena, trie: int, maker: int, parent: Hold | None = None, *, objects: bool = False
    ) -> None:
        self._ended = False
        self._objects = objects
        self._arena = arena
        self._trie = trie
        self._parent = parent
        self.maker = maker
        self._destroy = TRIE.destroy  # compiled now, not while an interpreter ends
        if arena.shared:
            arena.holdings.add(self)
        _untrack(self)

    @property
    def gone(self) -> bool:
        """Whether the trie was destroyed, or a trie that it goes on from."""
        if self._ended or self._parent is None:
            return self._ended
        owner = self._parent.trie.owner
        return owner is not None and owner.gone

    def end(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """Destroy the trie and everything made from it."""
        if not hasattr(self, "_destroy"):  # a signal handler raised while this was made
            return
        arena = self._arena
        if finalizing() or self.gone or arena.closed or arena.forked_since(self.maker):
            return
        self._ended = True
        # A signal handler may close the arena since the look above, and the trie goes with it, or fork: the parent goes
        # on, and the child does not.
        with suppress(ArenaClosed, MadeBeforeFork):
            reclaim(arena, self._trie, lambda identity: True, self.maker)
            slot = 0 if self._parent is None else self._parent.slot
            self._destroy(arena.base, self._trie, arena.interpreter_participant(self.maker), slot)
            if self._objects:
                settle(arena)

    __del__ = end


# The collector would finalize an owner that it finds in a cycle before, or after, the finalizers of users that use the
# map. So it is not told of owners: an owner goes when the map has been taken apart. No cycle leads through an owner.
_untrack = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyObject_GC_UnTrack", ctypes.pythonapi))
