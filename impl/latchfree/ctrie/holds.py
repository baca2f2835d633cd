"""Holds: what this process keeps from being freed in an arena, until the last Python reference to it is dropped.

Example: ``with trie.readonly_snapshot() as before: ...`` registers a snapshot. Its `Hold` keeps the nodes that the
snapshot sees; the end of the block drops the last reference to the hold, and so the snapshot.

A `Hold` is a registered snapshot; an `Owner` is a private trie. Both belong to one opening of the arena: closing it
ends them all. After a fork those of a shared arena belong to the parent: the child does not give them back and cannot
read through them.

In a private arena compiled code makes a hold together with its snapshot, and ends both, also while the interpreter ends
(`latchfree.ctrie.kernels.taking`). Python code ends all others: those in shared arenas, the owners of new tries and of
tries with objects, and everything where maps are plain. The next paragraph is about these.

Finalizers run anywhere: between two lines of any code, in a signal handler, while the interpreter ends. They do what
single calls do, with the interpreter lock from start to end. No such call is ever interrupted by a finalizer, for
compiled code makes no object that the garbage collector knows once it is at work on a trie. While the interpreter ends
they do nothing: shared arenas are closed by then, and the memory of the others goes anyway.

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
from latchfree.ctrie.bases import COMPILED, HoldBase, OwnerBase
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

    _context: bytes


class Taken(Protocol):
    """A snapshot, as a call reads it."""

    @property
    def root(self) -> int:
        """Return the word offset of the root I-node."""

    @property
    def taker(self) -> int:
        """Return the identity of the opening that took the snapshot."""


class Hold(HoldBase):
    """A registered snapshot of a trie.

    Parameters
    ----------
    trie : Registered
    slot : int
        Slot of the snapshot in the registry of the trie.
    taker : int
        The identity of the opening that took the snapshot; 0 in a private arena, if compiled code has taken it.

    Attributes
    ----------
    trie : Registered
    slot : int
        0 after the snapshot was given back.
    taker : int
    """

    __slots__ = ("__weakref__",)

    rank = 1  # closing an arena ends the private tries first, which take their snapshots along

    trie: Registered

    def __init__(self, trie: Registered, slot: int, taker: int) -> None:
        self.trie = trie
        self.taker = taker
        self._context = trie._context
        trie.drop  # noqa: B018 -- compiled now, not while an interpreter ends
        self.slot = slot  # last: a signal handler may raise between any two steps, and `end` is called all the same

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

    if not COMPILED:
        __del__ = end

    def touch(self) -> None:
        """Check that this process may read the snapshot now.

        Raises
        ------
        ArenaClosed
            After the arena was closed.
        MadeBeforeFork
            In a forked child, if the arena is shared: the parent may drop the snapshot at any time.
        ValueError
            If the garbage collector has ended it: a finalizer that runs later can reach the snapshot still.
        """
        arena = self.trie.arena
        if self.trie.shared:
            arena.interpreter_participant(self.taker)
        if self.slot == 0 and not arena.closed:
            raise ValueError("this snapshot was given back with the garbage that led to it; take another")


class SharedHold(Hold):
    """A hold in an arena that other processes can open: ended when the arena is closed, and in no forked child."""

    __slots__ = ()

    def __init__(self, trie: Registered, slot: int, taker: int) -> None:
        super().__init__(trie, slot, taker)
        trie.arena.holdings.add(self)

    __del__ = Hold.end


def new_hold(trie: Registered, slot: int, taker: int) -> Hold:
    """Return the hold of a snapshot that was registered just now."""
    return (SharedHold if trie.shared else Hold)(trie, slot, taker)


class Owner(OwnerBase):
    """Owns a private trie: destroys the trie when nobody uses it any more.

    Attributes
    ----------
    trie : int
        Word offset of the trie's root word; 0 after the trie was destroyed.
    maker : int
        The identity of the opening that made the trie; 0 in a private arena, if compiled code has made it.
    """

    __slots__ = ("__weakref__",)

    rank = 0
    #: Whether the trie holds objects by reference, which are let go of in the end.
    objects = False

    @property
    def arena(self) -> Arena:
        """The arena that holds the trie."""
        parent: Hold | None = getattr(self, "_parent", None)
        return self._arena if parent is None else parent.trie.arena

    @property
    def gone(self) -> bool:
        """Whether the trie was destroyed, or a trie that it goes on from."""
        owner: Owner | None = self
        while owner is not None and owner.trie:
            parent: Hold | None = getattr(owner, "_parent", None)
            owner = None if parent is None else parent.trie.owner
        return owner is not None

    def end(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """Destroy the trie and everything made from it."""
        trie = getattr(self, "trie", 0)
        if not trie or finalizing():  # without a trie: it was destroyed, or a signal handler raised while this was made
            return
        arena = self.arena
        if self.gone or arena.closed or arena.forked_since(self.maker):
            return
        self.trie = 0
        # A signal handler may close the arena since the look above, and the trie goes with it, or fork: the parent goes
        # on, and the child does not.
        with suppress(ArenaClosed, MadeBeforeFork):
            reclaim(arena, trie, lambda identity: True, self.maker or arena.identity)
            parent: Hold | None = getattr(self, "_parent", None)
            slot = 0 if parent is None else parent.slot
            TRIE.destroy(arena.base, trie, arena.interpreter_participant(self.maker), slot)
            if self.objects:
                settle(arena)

    if not COMPILED:
        __del__ = end


class NewOwner(Owner):
    """An owner that Python code has made, and ends.

    Parameters
    ----------
    arena : Arena
    trie : int
    maker : int
    parent : Hold, optional
        Snapshot that a writable snapshot goes on from; given back after the trie.
    """

    __slots__ = ()

    def __init__(self, arena: Arena, trie: int, maker: int, parent: Hold | None = None) -> None:
        self._arena = arena
        self._parent = parent
        self.maker = maker
        TRIE.prepare("destroy")  # compiled now, not while an interpreter ends
        self.trie = trie  # last: a signal handler may raise between any two steps, and `end` is called all the same
        if arena.shared:
            arena.holdings.add(self)
        untrack(self)

    __del__ = Owner.end


class ObjectsOwner(NewOwner):
    """The owner of a trie that holds objects by reference."""

    __slots__ = ()

    objects = True


def new_owner(arena: Arena, trie: int, maker: int, parent: Hold | None = None, *, objects: bool = False) -> Owner:
    """Return the owner of a private trie that was made just now."""
    return (ObjectsOwner if objects else NewOwner)(arena, trie, maker, parent)


# The collector would finalize an owner that it finds in a cycle before, or after, the finalizers of users that use the
# map. So it is not told of owners: an owner goes when the map has been taken apart. No cycle leads through an owner.
untrack: Final = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyObject_GC_UnTrack", ctypes.pythonapi))
