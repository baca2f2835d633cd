"""`Arena`: memory for lock-free structures, and the threads and processes that take part in it.

Example: a thread that uses a structure for the first time claims one of 256 slots in the arena, its *participant*. The
slot holds the thread's free lists, its limbo and its pin. When the thread ends the slot is released; when its process
is killed, the reaper of another process adopts the slot.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Protocol

import numpy as np
from numba import types

from latchfree.arena import layout, reaper
from latchfree.arena.census import Census, census
from latchfree.arena.directory import Directory
from latchfree.arena.entry import Entry
from latchfree.arena.kernels.participants import adopt, claim, collect, release
from latchfree.arena.merging import merge
from latchfree.arena.processes import is_alive, own_identity
from latchfree.arena.region import Region
from latchfree.errors import ArenaClosed, ParticipantsExhausted
from latchfree.jit import entry_point
from latchfree.structures import reclaimers

#: Capacity of an arena that nobody has sized, in bytes: virtual memory only, committed page by page when used.
DEFAULT_CAPACITY = 64 << 30
#: The least such capacity, where the memory of the process is limited.
LEAST_CAPACITY = 64 << 20

#: Merging free memory is tried where the free memory is at least one part in so many of the arena.
_WORTHWHILE = 64


@cache
def _release() -> Callable[[int, int], None]:
    return entry_point(release, types.uint64, types.uint64)


class Holding(Protocol):
    """What a process holds in a shared arena and gives back when it closes the arena."""

    #: Those of a lower rank are ended first.
    rank: int

    def end(self) -> None:
        """Give back what is held."""


class _Claim:
    """A thread's slot, released with the last reference to this object; a thread that ends drops its reference."""

    __slots__ = ("__weakref__", "_finalizer", "slot")

    def __init__(self, arena: Arena, slot: int) -> None:
        self.slot = slot
        base, pid, region = arena.base, os.getpid(), arena.region
        give = _release()  # compiled now, not while the thread ends

        def give_back() -> None:
            # A forked child inherits the object but not the claim.
            if os.getpid() == pid and not region.closed:
                give(base, slot)

        self._finalizer = weakref.finalize(self, give_back)
        self._finalizer.atexit = False


class Arena:
    """Memory for lock-free structures: 64-bit words addressed by offset.

    Use `Arena.anonymous`, `Arena.create` or `Arena.open`. A shared arena is closed by `close`, at the end of a ``with``
    block, or when the interpreter ends.

    Attributes
    ----------
    shared : bool
        Whether other processes can open the arena.
    capacity : int
        Size of the region in bytes.
    words : ndarray of uint64
        The whole region.
    base : int
        Address at which this process sees word 0.
    participant_address : int
        Address of the word that holds `interpreter_participant`, 0 before its first use.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.words = region.words
        self.shared = region.shared
        self.capacity = region.words.nbytes
        self.base: int = region.words.ctypes.data
        self._cell = np.zeros(1, np.uint64)
        self.participant_address: int = self._cell.ctypes.data
        self._local = threading.local()
        #: Called with a test of which processes are dead, for structures to give back what those held.
        self.on_death: list[Callable[[Arena, Callable[[int], bool]], None]] = []
        #: What this process holds in it, if it is shared: ended when the arena is closed.
        self.holdings: weakref.WeakSet[Holding] = weakref.WeakSet()
        _arenas.add(self)
        if self.shared:
            self._share()

    def _share(self) -> None:
        self._life = threading.RLock()  # the arena is not closed while somebody looks after it
        self._finalizer = weakref.finalize(self, _close, self.region, self._cell, self._life, self.holdings)
        self._reaper = reaper.start(self)

    @classmethod
    def anonymous(cls, capacity: int | None = None) -> Arena:
        """Make an arena in private memory of this process.

        Parameters
        ----------
        capacity : int, optional
            Bytes of address space, rounded up to 2 MiB. Pages are committed when first written. By default 64 GiB, or
            less where the memory of the process is limited, down to 64 MiB.

        Raises
        ------
        ValueError
            If `capacity` is below 4 MiB or above 4 TiB.
        OSError
            If so much address space is not to be had; the text names the limits.
        """
        if capacity is None:
            return cls(Region.anonymous(DEFAULT_CAPACITY, LEAST_CAPACITY))
        return cls(Region.anonymous(capacity))

    @classmethod
    def create(
        cls, *, name: str | None = None, path: str | os.PathLike[str] | None = None, capacity: int = 1 << 30
    ) -> Arena:
        """Make an arena that other processes can open.

        Parameters
        ----------
        name : str
            In shared memory, under this name (letters, digits, ``.``, ``_``, ``-``), until `unlink` or reboot; or
        path : path-like
            in a file, which stays.
        capacity : int
            Bytes, rounded up to 2 MiB. Unused parts take no memory and no disk.

        Raises
        ------
        FileExistsError
            If there is an arena, or another file, of that name.
        ValueError
            For a bad name, or a `capacity` below 4 MiB or above 4 TiB.
        """
        return cls(Region.create(name=name, path=path, capacity=capacity))

    @classmethod
    def open(cls, where: str | os.PathLike[str]) -> Arena:
        """Open an existing arena.

        Parameters
        ----------
        where : str or path-like
            The name of an arena in shared memory; or the path of a file (a path-like, or a string with a slash).

        Raises
        ------
        FileNotFoundError
            If there is none.
        ArenaInvalid
            If the file is truncated, foreign, damaged, or made by another version; the file is unchanged.
        """
        if isinstance(where, str) and "/" not in where:
            arena = cls(Region.open(name=where))
        else:
            arena = cls(Region.open(path=where))
        arena.adopt()
        return arena

    # who takes part -------------------------------------------------------------------------------------------

    def participant(self) -> int:
        """Return the word offset of the calling thread's slot, claimed at the first call.

        The slot is released when the thread ends.

        Raises
        ------
        ParticipantsExhausted
            If all slots belong to live threads.
        ArenaClosed
            After `close`.
        """
        if self.closed:
            raise ArenaClosed(f"{self.region.where} is closed; open it again with Arena.open")
        try:
            return self._local.claim.slot  # type: ignore[no-any-return]
        except AttributeError:
            claimed = _Claim(self, self._claim_slot())
            self._local.claim = claimed
            return claimed.slot

    @property
    def identity(self) -> int:
        """The identity of this opening of the arena: what it holds in the arena is recorded under this number."""
        return own_identity()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Keep the arena open during a call that gives up the interpreter lock.

        Raises
        ------
        ArenaClosed
            After `close`.
        """
        if self.closed:
            raise ArenaClosed(f"{self.region.where} is closed; open it again with Arena.open")
        yield

    @contextmanager
    def lend(self) -> Iterator[int]:
        """Lend a participant for one call that gives up the interpreter lock; yield the word offset of its slot.

        Raises
        ------
        ArenaClosed
            After `close`.
        """
        with self.call():
            yield self.participant()

    def interpreter_participant(self) -> int:
        """Return the word offset of the slot of the thread that holds the interpreter lock.

        Calls for a single key never release the lock. They cannot overlap, so all threads share one slot for them.
        """
        if self._cell[0] == 0:
            if not getattr(sys, "_is_gil_enabled", lambda: True)():
                raise RuntimeError("single calls rely on the interpreter lock; free-threaded Python is not supported")
            if self.closed:
                raise ArenaClosed(f"{self.region.where} is closed; open it again with Arena.open")
            self._cell[0] = self._claim_slot()
        return int(self._cell[0])

    def _claim_slot(self) -> int:
        fd = self.region.fd
        arguments = [np.uint64(word) for word in (self.base, own_identity(), 0 if fd is None else fd + 1)]
        slot = int(claim(*arguments))
        if slot == 0:
            self.adopt()
            slot = int(claim(*arguments))
        if slot == 0:
            raise ParticipantsExhausted(
                f"all {layout.PARTICIPANT_COUNT} participant slots of the arena are in use by live threads; "
                "let some threads finish, or use fewer"
            )
        return slot

    def adopt(self) -> int:
        """Adopt what dead processes have left: release their participants, and give back what structures held for them.

        The reaper of a shared arena does this four times a second.

        Returns
        -------
        int
            How many participants were released.
        """
        if not self.shared:
            return 0
        with self._life:
            return 0 if self.closed else self._adopt()

    def reap(self) -> None:
        """Adopt what dead processes have left, and free what can be freed; the arena's reaper calls this."""
        with self._life:
            if not self.closed:
                self._adopt()
                self._collect(self.interpreter_participant())

    def _adopt(self) -> int:
        known: dict[int, bool] = {}

        def is_dead(identity: int) -> bool:
            if identity not in known:
                known[identity] = not is_alive(identity)
            return known[identity]

        released = 0
        for slot, identity in list(_claimed(self.words)):
            if is_dead(identity):
                released += bool(adopt(*(np.uint64(word) for word in (self.base, slot, identity, own_identity()))))
        self.directory.adopt()
        for heir in self.on_death:
            heir(self, is_dead)
        return released

    # memory ---------------------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Free the nodes that wait to be freed and that nobody can be reading.

        Operations do this as they go. Three calls free what was removed just before.
        """
        self._collect(self.interpreter_participant())
        if hasattr(self._local, "claim"):
            self._collect(self.participant())

    def merge(self, *, bulk: bool = False) -> None:
        """Merge neighbouring free pieces into larger ones, where the arena has no more of the size it needs.

        Operations that find the arena full do this before they give up.

        Parameters
        ----------
        bulk : bool
            Give the merged pieces to the calling thread's bulk calls, not to calls for single keys.
        """
        free = self.used - self.allocated - 8 * layout.FIRST_NODE
        if free * _WORTHWHILE < self.capacity:
            return
        slots = [self.interpreter_participant(), self.participant() if hasattr(self._local, "claim") or bulk else 0]
        merge(self.base, slots[bulk], slots[not bulk], free // 8 + 1)

    def _collect(self, slot: int) -> None:
        base, me = np.uint64(self.base), np.uint64(slot)
        collect(base, me)
        if self.words[slot + int(layout.P_DEFERRED)]:
            for reclaim in reclaimers():
                reclaim(base, me)

    @property
    def used(self) -> int:
        """Bytes given to participants so far, the header included. This never falls: freed memory is used again."""
        return int(self.words[layout.H_BUMP]) * 8

    @property
    def allocated(self) -> int:
        """Bytes in nodes: reachable, waiting to be freed, or lost with a process that was killed."""
        table = self.words[layout.PARTICIPANTS : layout.FIRST_NODE].reshape(-1, layout.PARTICIPANT_WORDS)
        return 8 * (int(table[:, int(layout.P_LIVE)].sum(dtype=np.uint64)) & ((1 << 63) - 1))

    def census(self) -> Census:
        """Return the words of the arena by use; `Census.exact` says whether the arena stood still meanwhile."""
        return census(self.words)

    # structures and life --------------------------------------------------------------------------------------

    @property
    def directory(self) -> Directory:
        """The structures of the arena by name; see `Ctrie.create`."""
        return Directory(self.words, self.identity, self._is_dead)

    def _is_dead(self, identity: int) -> bool:
        return not is_alive(identity)

    def structures(self) -> dict[str, Entry]:
        """Return what the directory says of each structure, by name."""
        return {entry.name: entry for entry in self.directory.entries()}

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self.region.closed

    def close(self) -> None:
        """Stop using a shared arena: its structures cannot be used in this process any more. Closing twice is no error.

        No other thread may be using the arena. A private arena goes with its last structure and needs no closing.
        """
        if self.shared:
            self._finalizer()

    def unlink(self) -> None:
        """Remove the name or file of a shared arena. Processes that have the arena open go on using it."""
        self.region.unlink()

    def __enter__(self) -> Arena:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        if not self.shared:
            raise TypeError(
                "a private arena cannot be pickled: its memory is this process's; "
                "use Arena.create(name=...) to share one"
            )
        return _reopened, (self.region.where,)

    def __repr__(self) -> str:
        closed = ", closed" if self.closed else ""
        return f"<Arena {self.region.where}: {self.used:,} of {self.capacity:,} bytes used{closed}>"


_arenas: weakref.WeakSet[Arena] = weakref.WeakSet()
_reopened_here: weakref.WeakValueDictionary[str, Arena] = weakref.WeakValueDictionary()


def _reopened(where: str) -> Arena:
    """Return the arena at a path, opened once in this process however often it is unpickled."""
    arena = _reopened_here.get(where)
    if arena is None or arena.closed:
        arena = _reopened_here[where] = Arena(Region.open(path=where))
    return arena


def _claimed(words: Any) -> Iterator[tuple[int, int]]:
    """Yield offset and owner's identity of every claimed slot."""
    for k in range(int(words[layout.H_CLAIMED])):
        slot = layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS
        owner = int(words[slot + int(layout.P_STATE)])
        if owner:
            yield slot, owner


def _close(region: Region, cell: Any, life: Any, holdings: Any) -> None:
    """Give back all that this process holds in a region, and close the region; calls find no participant any more."""
    with life:
        if region.closed:
            return
        for holding in sorted(holdings, key=lambda holding: holding.rank):
            holding.end()
        cell[0] = 0
        words, me = region.words, own_identity()
        for slot, owner in list(_claimed(words)):
            if owner == me:
                adopt(*(np.uint64(word) for word in (words.ctypes.data, slot, me, me)))
        with suppress(OSError):
            region.close()


def _after_fork_in_child() -> None:
    for arena in list(_arenas):
        arena._local = threading.local()
        if arena.shared:
            # The slots are the parent's, and so was any thread that held the lock.
            arena._cell[0] = 0
            arena._finalizer.detach()
            arena._share()
        else:
            # The memory is a copy, and so are the slots of threads that do not exist here.
            for slot, _ in list(_claimed(arena.words)):
                if slot != int(arena._cell[0]):
                    arena.words[slot + int(layout.P_PIN)] = 0
                    arena.words[slot + int(layout.P_STATE)] = 0


os.register_at_fork(after_in_child=_after_fork_in_child)
