"""The root directory: which structures are in an arena, by name, and where their root records are. Nobody waits.

Example: `Ctrie.create(arena, "stock", ...)` makes an empty Ctrie, claims a free entry, writes the name ``stock`` and
the offset of the root record into the entry, proposes the entry, looks at all other entries, and publishes its own.

Invariant: at no time are two entries READY that have the same name. Of two that were published, the one proposed later
looked at the other entry after that had been proposed. The look found the other entry READY: then the later one was
given back. Or it found a proposal, and killed it by putting its state back: then the other creator failed to publish,
and began again with a later proposal. Or the structure was removed by then. No entry becomes READY in another way.

A creator whose proposal was killed waits for a short random time. One who is stopped or dies is killed once and holds
up nobody. Every entry that is neither FREE nor READY names the opening that owns it. Others take such an entry only
when its owner is known to be dead; what the owner had built is lost until a repair.

`find` is linearizable though it looks at one entry after another: an entry does not move, so a structure that is there
all the time is found, and if there is none of the name in any entry, there was none at some instant in between.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final

import numpy as np

from latchfree.arena import layout
from latchfree.arena.border import ARENA
from latchfree.arena.entry import (
    CREATING,
    FREE,
    OWNED,
    PROPOSED,
    READY,
    REMOVED,
    Entry,
    Words,
    changed,
    image,
    owner_of,
    parse_entry,
    ready,
    state_of,
)
from latchfree.errors import ArenaClosed, DirectoryFull, StructureExists, StructureMissing
from latchfree.structures import class_of, mismatch, name_of

#: Seconds that a creator waits at most whose proposal was killed.
_BACKOFF: Final = 0.001


class Directory:
    """The directory of an arena, as one of its openings sees it.

    Parameters
    ----------
    words : ndarray of uint64
        The arena, or at least its header.
    me : int
        The identity of the opening.
    is_dead : callable
        Says of an identity whether its opening is known to be dead.
    call : callable, optional
        Returns a context manager that keeps the arena open.
    present : callable, optional
        Returns the identity of the opening now, which is another one in a child that a signal handler has forked.
    """

    def __init__(
        self,
        words: Words,
        me: int,
        is_dead: Callable[[int], bool],
        call: Callable[[], AbstractContextManager[object]] = nullcontext,
        present: Callable[[], int] | None = None,
    ) -> None:
        self._words = words
        self._base: int = words.ctypes.data
        self._me = me
        self._is_dead = is_dead
        self._call = call
        self._present = present

    def _forked(self) -> bool:
        """Return whether this is a child forked in the midst of a call: what the call has made is the parent's."""
        return self._present is not None and self._present() != self._me

    def _check(self) -> None:
        """Raise in such a child. No signal handler runs between this and the next call that the caller makes."""
        if self._forked():
            raise _Forked

    def _rows(self) -> Words:
        """Return a copy of all entries, each as it was at one instant."""
        rows: Words = np.empty((layout.DIRECTORY_ENTRIES, layout.ENTRY_WORDS), np.uint64)
        ARENA.read_entries(self._base, layout.DIRECTORY, len(rows), rows.ctypes.data)
        return rows

    def _read(self, at: int) -> Words:
        row: Words = np.empty(layout.ENTRY_WORDS, np.uint64)
        ARENA.read_entries(self._base, at, 1, row.ctypes.data)
        return row

    def _take(self, at: int, old: int, new: int) -> bool:
        take = ARENA.take_entry
        self._check()
        return bool(take(self._base, at, old, new))

    def _change(self, at: int, old: int, new: int) -> bool:
        change = ARENA.change_entry
        self._check()
        return bool(change(self._base, at, old, new))

    def _empty(self, at: int, mine: int) -> None:
        """Make an entry FREE that is CREATING or REMOVED and ours."""
        fill, release, free = ARENA.fill_entry, ARENA.release_entry, changed(mine, FREE)
        self._check()
        fill(self._base, at, 0)
        self._check()
        release(self._base, at, free)

    def entries(self) -> list[Entry]:
        """Return the entries of all structures, by name."""
        with self._call():
            rows = self._rows()
        found = {entry.name: entry for entry in map(parse_entry, ready(rows))}  # one may have been made anew
        return [found[name] for name in sorted(found)]

    def _look_up(self, name: str) -> tuple[int, Words]:
        wanted, rows = _name_words(name), self._rows()
        for at, row in _places(rows):
            if state_of(int(row[0])) == READY and _name_in(row) == wanted:
                return at, row
        known = ", ".join(sorted(repr(parse_entry(row).name) for row in ready(rows))) or "none"
        raise StructureMissing(f"the arena has no structure {name!r}; there are: {known}")

    def find(self, name: str, kind: int | None = None, *, call: str = "open") -> Entry:
        """Return the entry of a structure.

        Parameters
        ----------
        name : str
            The name of the structure.
        kind : int, optional
            What it must be; by default anything.
        call : str
            What the caller is about to do: an error names the class whose call does it.

        Raises
        ------
        StructureMissing
            If there is none of that name; the text lists those there are.
        ValueError
            If it is of another kind than the one given.
        """
        with self._call():
            found = parse_entry(self._look_up(name)[1])
        if kind is not None and found.kind != kind:
            raise ValueError(mismatch(name, class_of(found.kind, found.values), name_of(kind), call))
        return found

    # creating -------------------------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        *,
        kind: int,
        keys: str,
        values: str,
        hash_mask: int,
        build: Callable[[], int],
        dismantle: Callable[[int], object] | None = None,
    ) -> Entry:
        """Add a structure: `build` makes it and returns the offset of its root record.

        If the structure cannot be added after all, `dismantle` gets that offset and frees what was built, and the
        directory is as before. If the process is killed, what was built is lost, but not the entry.

        Raises
        ------
        StructureExists
            If the name is taken.
        DirectoryFull
            If there are 64 structures.
        ValueError
            If a name is unfit.
        """
        image(Entry(name, 0, kind, keys, values, hash_mask))  # raises where a name is unfit
        while True:
            if any(entry.name == name for entry in self.entries()):
                raise _exists(name)
            try:
                with self._call():
                    entry = Entry(name, build(), kind, keys, values, hash_mask)
                    self._add(entry, dismantle)
            except _Forked:
                self._go_on_in_child()
            else:
                return entry

    def _add(self, entry: Entry, dismantle: Callable[[int], object] | None) -> None:
        at = mine = 0
        try:
            at, mine = self._claim()
            fill, words = ARENA.fill_entry, image(entry)
            address = words.ctypes.data
            self._check()
            fill(self._base, at, address)
            while not self._publish(at, mine, entry.name):
                time.sleep(random.random() * _BACKOFF)
        except BaseException:
            # An interrupt may have come when all was done: then the structure stays. In a child it is the parent's.
            with suppress(_Forked):
                self._check()
                if (at == 0 or self._give_back(at, mine)) and dismantle is not None:
                    dismantle(entry.root)
            raise

    def _claim(self) -> tuple[int, int]:
        """Make a free entry CREATING; return where the entry is, and its state word."""
        while True:
            for at, row in _places(self._rows()):
                word = int(row[0])
                mine = changed(word, CREATING, self._me)
                # spec: Directory!Claim
                if state_of(word) == FREE and self._take(at, word, mine):
                    return at, mine
            if not self.adopt():
                self._check()
                raise DirectoryFull(
                    f"the arena has {layout.DIRECTORY_ENTRIES} structures, the most it can name; "
                    "remove one, or use another arena"
                )

    def _publish(self, at: int, mine: int, name: str) -> bool:
        """Propose an entry and make it READY; False if somebody has killed the proposal."""
        proposed = changed(mine, PROPOSED, self._me)
        # spec: Directory!Propose -- before the looks at the others (mutant D2).
        if not self._change(at, mine, proposed):
            raise ArenaClosed("the arena was closed while a structure was made in it; open it again with Arena.open")
        wanted = _name_words(name)
        for other, row in _places(self._rows()):
            while other != at and _name_in(row) == wanted:
                word = int(row[0])
                if state_of(word) == READY:
                    raise _exists(name)
                # spec: Directory!Kill -- the entry stays its owner's (mutant D1).
                if state_of(word) != PROPOSED or self._change(other, word, changed(word, CREATING, owner_of(word))):
                    break
                row = self._read(other)
        # spec: Directory!Publish -- fails if the proposal was killed (mutant D3).
        return self._change(at, proposed, changed(mine, READY))

    def _give_back(self, at: int, mine: int) -> bool:
        """Free an entry that was to be published; False if it is published, or ours no more."""
        # spec: Directory!Withdraw -- whoever is reading the entry must not take it for whole while it is emptied.
        withdrawn = self._change(at, changed(mine, PROPOSED, self._me), mine)
        if not withdrawn and int(self._read(at)[0]) != mine:
            return False
        self._empty(at, mine)
        return True

    # removing, adopting ---------------------------------------------------------------------------------------

    def remove(self, name: str, dismantle: Callable[[Entry], None] | None = None, *, root: int | None = None) -> Entry:
        """Remove a structure's name, and have `dismantle` free its memory.

        The name is gone even if `dismantle` raises or the process is killed in it.

        Parameters
        ----------
        name : str
            The name of the structure.
        dismantle : callable, optional
            Called with the entry once the name is gone; by default nothing is freed.
        root : int, optional
            Remove only the structure with this root record, and not another that has taken its name.

        Raises
        ------
        StructureMissing
            If there is none of that name.
        """
        while True:
            entry = None
            try:
                with self._call():
                    at, mine, entry = self._unlist(name, root)
                    try:
                        if dismantle is not None:
                            self._check()
                            dismantle(entry)
                    finally:
                        with suppress(_Forked):
                            self._empty(at, mine)
            except _Forked:
                self._go_on_in_child()
            if entry is not None:  # in a child, too: the parent goes on
                return entry

    def _go_on_in_child(self) -> None:
        if self._present is not None:
            self._me = self._present()

    def _unlist(self, name: str, root: int | None) -> tuple[int, int, Entry]:
        """Make an entry REMOVED; return where the entry is, its state word, and what it was."""
        while True:
            at, row = self._look_up(name)
            entry, mine = parse_entry(row), changed(int(row[0]), REMOVED, self._me)
            if root not in (None, entry.root):
                raise StructureMissing(f"structure {name!r} was removed, and another one has taken its name")
            # spec: Directory!Remove
            if self._take(at, int(row[0]), mine):
                return at, mine, entry

    def adopt(self) -> int:
        """Free the entries of openings that died while they made or removed a structure; return how many."""
        freed = 0
        for at, row in _places(self._rows()):
            word = int(row[0])
            mine = changed(word, REMOVED, self._me)
            if state_of(word) not in OWNED or owner_of(word) == self._me or not self._is_dead(owner_of(word)):
                continue  # never from a living one (mutant D5)
            try:
                # spec: Directory!Adopt
                if self._take(at, word, mine):
                    self._empty(at, mine)
                    freed += 1
            except _Forked:
                return freed
        return freed


class _Forked(Exception):
    """The process is a child that a signal handler has forked in the midst of a call."""


def _places(rows: Words) -> list[tuple[int, Words]]:
    """Return the word offset of each entry, and a copy of its words."""
    return [(layout.DIRECTORY + k * layout.ENTRY_WORDS, row) for k, row in enumerate(rows)]


def _name_words(name: str) -> bytes:
    return _name_in(image(Entry(name, 0, 0, "?", "?", 0)))


def _name_in(row: Words) -> bytes:
    return row[layout.E_NAME :].tobytes()


def _exists(name: str) -> StructureExists:
    return StructureExists(f"structure {name!r} exists already; open it, remove it, or choose another name")
