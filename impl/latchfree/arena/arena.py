"""`Arena`: memory for lock-free structures, and the threads and processes that take part in it.

Example: a thread looks up a million keys. The call borrows one of 256 slots in the arena, a *participant*, with free
lists, a limbo and a pin, and gives the slot back at its end (see `latchfree.arena.lending`). If the process is killed
in the midst of the call, the reaper of another process adopts the slot.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

import numpy as np

from latchfree.arena import layout, reaper
from latchfree.arena.border import ARENA
from latchfree.arena.cells import Cells
from latchfree.arena.census import Census, census
from latchfree.arena.directory import Directory
from latchfree.arena.entry import Entry
from latchfree.arena.lending import Call, Lender, Loan
from latchfree.arena.lifetime import Holding, Lifetime, claimed
from latchfree.arena.merging import joined
from latchfree.arena.region import Region
from latchfree.errors import ArenaInvalid
from latchfree.structures import reclaimers

#: Capacity of an arena that nobody has sized, in bytes: virtual memory only, committed page by page when used.
DEFAULT_CAPACITY = 64 << 30
#: The least such capacity, where the memory of the process is limited.
LEAST_CAPACITY = 64 << 20

#: Merging free memory is tried where the free memory is at least one part in so many of the arena.
_WORTHWHILE = 64


class Idler(Protocol):
    """A structure that keeps something idle for the next call."""

    def unpark(self) -> None:
        """Give back what is idle."""


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
    number : int
        A number that no other arena has, whoever opens it.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.words = region.words
        self.shared = region.shared
        self.capacity = region.words.nbytes
        self.base: int = region.words.ctypes.data
        self.number = int(region.words[layout.H_IDENTITY])
        self._cells = Cells(region.identity)
        #: Called with a test of which openings are dead, for structures to give back what those held.
        self.on_death: list[Callable[[Arena, Callable[[int], bool]], None]] = []
        #: Of a private arena: what keeps a snapshot that nobody holds, until `collect`.
        self.idlers: weakref.WeakSet[Idler] = weakref.WeakSet()
        self._lender = Lender(region, weakref.WeakMethod(self._release_dead))
        self._chosen: dict[int, int] = {}
        if self.shared:
            ARENA.prepare("claim", "release", "adopt")
        self._lifetime = Lifetime(self, region, self._cells, self._lender)  # last: the reaper uses all the rest

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
        OSError
            If there is no room, or the process can have no further thread; there is no arena then.
        """
        region = Region.create(name=name, path=path, capacity=capacity)
        identity = region.identity
        try:
            return cls(region)
        except BaseException:
            with suppress(OSError):
                if region.identity == identity:  # else a signal handler has forked: the file is the parent's
                    region.unlink()
            raise

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

    @property
    def identity(self) -> int:
        """The identity of this opening of the arena: what it holds in the arena is recorded under this number."""
        return self.region.identity

    @property
    def holdings(self) -> weakref.WeakSet[Holding]:
        """What this opening holds in the arena, if the arena is shared: ended when the arena is closed."""
        return self._lifetime.holdings

    def forked_since(self, identity: int) -> bool:
        """Return whether this is a child, forked since `identity` was read, of a process that shares the arena.

        What the call in hand has taken or made before is the parent's then. No signal handler runs between this and
        the next call that the caller makes.
        """
        return self.shared and self.region.identity != identity

    def call(self) -> Call:
        """Return a context manager that keeps the arena open during a call that gives up the interpreter lock.

        Entering raises `ArenaClosed` after `close`.
        """
        return Call(self._lender)

    def lend(self, maker: int = 0) -> Loan:
        """Return a context manager that lends a participant to one call that gives up the interpreter lock.

        Entering yields the word offset of the slot. While 64 slots are lent, the next call waits for one of them.

        Parameters
        ----------
        maker : int
            As for `interpreter_participant`, and entering raises what that raises.
        """
        return Loan(self._lender, maker)

    def interpreter_participant(self, maker: int = 0) -> int:
        """Return the word offset of the slot of the thread that holds the interpreter lock.

        Calls for a single key never release the lock. They cannot overlap, so all threads share one slot for them.

        Parameters
        ----------
        maker : int
            The identity of the opening to which alone belongs what the call is about; 0 for what all may use.

        Raises
        ------
        ArenaClosed
            After `close`.
        MadeBeforeFork
            In a child, forked since, of the process that had the identity `maker`.
        ParticipantsExhausted
            If all slots stay in use by living openings.
        """
        while True:
            # A signal handler runs after a call, and may close the arena or fork. There is none from this look to the
            # next call that the caller makes, so what the caller passes there is true.
            if maker:
                self._lender.check_maker(maker)
            participant: int = self._cells.shown[0]
            if participant:
                return participant
            if not getattr(sys, "_is_gil_enabled", lambda: True)():
                raise RuntimeError("single calls rely on the interpreter lock; free-threaded Python is not supported")
            with self.call():  # whoever closes the arena waits until the cell is filled, and empties it
                age = self._lender.age
                slot = self._lender.another(wait=False)
                chosen = self._chosen.setdefault(age, slot)  # one step: two threads may come here together
                if age == self._lender.age:  # else the process has forked meanwhile: the slot is the parent's
                    self._cells.words[self.region.identity][0] = chosen  # first: who finds the other filled goes on
                    self._cells.shown[0] = chosen
                    if chosen != slot:
                        self._lender.take_back(slot, self._lender.free)

    def participant_address(self, maker: int = 0) -> int:
        """Return the address of the word that holds `interpreter_participant`, and 0 before the first use of that.

        The word for a `maker` stays 0 in a child of the maker.
        """
        return self._cells.address(maker)

    @property
    def shown(self) -> Any:
        """A view of one word, which holds `interpreter_participant`, and 0 before the first use of that."""
        return self._cells.shown

    def check_open(self) -> None:
        """Raise `ArenaClosed` after `close`."""
        if self.closed:
            self._lender.refuse()

    def adopt(self) -> int:
        """Adopt what dead openings have left: release their participants, and give back what structures held for them.

        The reaper of a shared arena does this four times a second.

        Returns
        -------
        int
            How many participants were released.
        """
        if not self.shared or self.closed:
            return 0
        with self.call():
            return self._adopt()

    def reap(self) -> None:
        """Adopt what dead openings have left, and free what can be freed; the arena's reaper calls this."""
        with self.call():
            self._adopt()
            self._collect()
            reaper.note_epoch(self.words)

    def _adopt(self) -> int:
        is_dead = cache(self.region.is_dead)
        released = self._release(is_dead)
        self.directory.adopt()
        for heir in self.on_death:
            heir(self, is_dead)
        return released

    def _release_dead(self) -> None:
        self._release(cache(self.region.is_dead))

    def _release(self, is_dead: Callable[[int], bool]) -> int:
        """Release the participants of dead openings; return how many."""
        released = 0
        # spec: Lifecycle!AdoptRead
        for slot, state in list(claimed(self.words)):
            if is_dead(state >> int(layout.IDENTITY_SHIFT)):
                released += ARENA.adopt(self.base, slot, state, self._lender.word())
        return released

    # memory ---------------------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Free the nodes that wait to be freed and that nobody can be reading.

        Operations do this as they go. Three calls free what was removed just before.
        """
        for idler in self._idlers():
            idler.unpark()
        self._lender.release_free()
        self._collect()

    def _idlers(self) -> list[Idler]:
        while True:
            with suppress(RuntimeError):  # another thread has made a structure meanwhile
                return list(self.idlers)

    def merge(self, *, bulk: bool = False) -> None:
        """Merge neighbouring free pieces into larger ones, where the arena has no more of the size it needs.

        Operations that find the arena full do this before they give up.

        Parameters
        ----------
        bulk : bool
            Give the merged pieces to the next call that borrows a participant, not to calls for single keys.
        """
        free = self.used - self.allocated - 8 * layout.FIRST_NODE
        if free * _WORTHWHILE < self.capacity:
            return
        self._lender.release_free()
        self.interpreter_participant()
        gather, scatter = ARENA.gather, ARENA.scatter
        starts, ends = np.zeros((2, free // 8 + 1), np.uint64)
        with self.lend() as lent:
            home = self._lender.free
            single = self._cells.shown[0]  # 0 if a signal handler has forked since the call above
            me, other = (single, lent) if single and not bulk else (lent, single)
            found = gather(self.base, me, other, starts, ends)
            starts, ends = joined(starts[:found], ends[:found])
            if not self.shared or self._lender.free is home:  # else we are a child, and the parent puts them back
                scatter(self.base, me, starts, ends)

    def _collect(self) -> None:
        ARENA.collect(self.base, self.interpreter_participant())
        slot = self.interpreter_participant()
        if self.words[slot + int(layout.P_DEFERRED)] or self.words[slot + int(layout.P_HOLDERS)]:
            for reclaim in reclaimers():
                reclaim(self.base, self.interpreter_participant)

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
        self.check_open()
        return Directory(self.words, self.identity, self.region.is_dead, self.call, lambda: self.identity)

    def structures(self) -> dict[str, Entry]:
        """Return what the directory says of each structure, by name."""
        return {entry.name: entry for entry in self.directory.entries()}

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self.region.closed

    @property
    def closing(self) -> bool:
        """Whether `close` was called, though it may still wait for calls that are under way."""
        return self._lender.closing

    @property
    def is_left(self) -> bool:
        """Whether the interpreter ends and this is another thread than the main one, see `latchfree.resting`."""
        return self._lender.is_left()

    def close(self) -> None:
        """Stop using a shared arena: its structures cannot be used in this process any more. Closing twice is no error.

        Calls of other threads that are under way are waited for. Closed in the midst of a call of the same thread, by
        a signal handler for example, the arena is closed at the end of that call. A private arena goes with its last
        structure and needs no closing.
        """
        self._lifetime.close()

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
        return _reopened, (self.region.where, self.number)

    def __repr__(self) -> str:
        closed = ", closed" if self.closed else ""
        return f"<Arena {self.region.where}: {self.used:,} of {self.capacity:,} bytes used{closed}>"


_reopened_here: weakref.WeakValueDictionary[tuple[str, int], Arena] = weakref.WeakValueDictionary()


def _reopened(where: str, number: int) -> Arena:
    """Return the arena at a path, opened once in this process however often it is unpickled."""
    arena = _reopened_here.get((where, number))
    if arena is None or arena.closed:
        arena = Arena(Region.open(path=where))
        if arena.number != number:
            arena.close()
            raise ArenaInvalid(f"{where}: another arena has taken the place of the one that was pickled")
        _reopened_here[where, number] = arena
    return arena
