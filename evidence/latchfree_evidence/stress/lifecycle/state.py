"""The state of one process of a program: its openings of the arena, its snapshots, its place in the ledger."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any, Final

from latchfree import Arena, ConcurrentTrie, Ctrie, StructureExists
from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.ledger import FIRST_THREAD, HANDLER, LANES, LANES_USED, MAIN, Ledger
from latchfree_evidence.stress.lifecycle.program import Program, Step
from latchfree_evidence.stress.lifecycle.work import Lost, Writer, contents

CAPACITY: Final = 32 << 20
CODECS: Final[dict[str, Any]] = {
    "ints": {"keys": int, "values": int},
    "texts": {"keys": str, "values": str},
    "own": {"keys": str, "values": int},
}
RING_FILE: Final = "ring.pickle"
PRECIOUS: Final = b"a file that nobody may touch\n"


def own_name(who: int) -> str:
    """Return the name of the structure that only this process writes."""
    return f"own-{who}"


def place(folder: Path, kind: str, what: str = "main") -> str | Path:
    """Return where an arena is, for `Arena.open`: a name, or a path in the folder."""
    return f"{folder.name}-{what}" if kind == "name" else folder / f"{what}.arena"


def created(where: str | Path) -> Arena:
    """Make an arena."""
    at: dict[str, Any] = {"name": where} if isinstance(where, str) else {"path": where}
    return Arena.create(**at, capacity=CAPACITY)


class Opening:
    """An opening of the arena, and the structures opened in it."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.structures: dict[str, Any] = {}


class Process:
    """One process of a program.

    Attributes
    ----------
    who : int
        Its seat: the row of the ledger, and the keys that it writes.
    steps : list of dict
        What is still to do, the next step first.
    openings : dict
        By slot.
    snapshots : list
        Of arena, snapshot, structure and what it showed.
    kept : list
        Whatever should not be collected.
    precious : list
        Of descriptor and inode of files that are not ours.
    exhausted : tuple or None
        The limits of descriptors as they were, while there is none free.
    at_a_loss : bool
        Whether the process may find its arena closed: it was forked without free descriptors, or a handler closed.
    handling : bool
        Whether a signal handler runs, which has one lane: handlers do not nest.
    forking : bool
        Whether a fork is under way.
    """

    def __init__(self, folder: Path, program: Program, who: int, steps: list[Step]) -> None:
        self.folder, self.program, self.who, self.steps = folder, program, who, list(steps)
        self.ledger = Ledger(folder / "ledger")
        self.openings: dict[str, Opening] = {}
        self.snapshots: list[tuple[Arena, Any, str, list[int]]] = []
        self.kept: list[Any] = []
        self.precious: list[tuple[int, int]] = []
        self.exhausted: tuple[int, int] | None = None
        self.at_a_loss = self.handling = self.forking = False
        self.ring: Any = None
        self.writers()

    def writers(self) -> None:
        """Take the lanes of this seat."""
        self.main, self.handler = (Writer(self.ledger, self.who, lane) for lane in (MAIN, HANDLER))

    def thread_writer(self) -> Writer | None:
        """Return a lane that no thread has used yet, None if there is none."""
        used = int(self.row[LANES_USED])
        if used + FIRST_THREAD >= LANES:
            return None
        self.row[LANES_USED] += 1
        return Writer(self.ledger, self.who, used + FIRST_THREAD)

    @property
    def row(self) -> Any:
        """Its row of the ledger."""
        return self.ledger.rows[self.who]

    @property
    def where(self) -> str | Path:
        """Where the arena of the program is."""
        return place(self.folder, self.program["arena"])

    def opening(self, slot: str) -> Opening:
        """Return the opening of a slot; open the arena if the slot is empty or its arena closed."""
        opening = self.openings.get(slot)
        if opening is None or opening.arena.closed:
            opening = self.openings[slot] = Opening(Arena.open(self.where))
        return opening

    def structure(self, slot: str, what: str) -> Any:
        """Return a structure of the opening of a slot; make the own one if there is none."""
        opening = self.opening(slot)
        if what not in opening.structures:
            opening.structures[what] = self._opened(opening.arena, what)
        return opening.structures[what]

    def _opened(self, arena: Arena, what: str) -> Any:
        if what == "topics":
            return ConcurrentTrie.open(arena, what)
        if what != "own":
            return Ctrie.open(arena, what, **CODECS[what])
        if not self.row[columns.IS]:
            self.row[columns.WILL_BE] = 1
            try:
                made: Ctrie[Any, Any] = Ctrie.create(arena, own_name(self.who), **CODECS[what])
            except StructureExists:
                made = Ctrie.open(arena, own_name(self.who), **CODECS[what])
            self.row[columns.IS] = 1
            return made
        return Ctrie.open(arena, own_name(self.who), **CODECS[what])

    def forget_own(self) -> None:
        """Drop the own structure from every opening: it is gone, or another's."""
        for opening in self.openings.values():
            opening.structures.pop("own", None)

    def drop_snapshots(self) -> None:
        """Compare each snapshot with what it showed at first, and drop it."""
        while self.snapshots:
            arena, snapshot, what, expected = self.snapshots.pop()
            if arena.closed:
                continue
            found = self.shown(contents(snapshot, what), what)
            if found != expected:
                raise Lost(f"a snapshot of {what} changed from {expected} to {found}")

    def shown(self, found: dict[Any, int], what: str) -> list[int]:
        """Return the values of the main lane among those found in a snapshot."""
        return [found.get(name, columns.ABSENT) for name in self.main.names(what)]

    def own_ring(self) -> Any:
        """Return the ring of the program, attached anew if its arena was closed; None if nobody keeps one."""
        if self.ring is None and (self.folder / RING_FILE).exists():
            self.ring = pickle.loads((self.folder / RING_FILE).read_bytes())
        return self.ring

    def take_stock(self) -> None:
        """Note that a step begins, and look at the files that are not ours.

        Raises
        ------
        Lost
            If a descriptor has become another file's.
        """
        self.row[columns.SINCE] = time.monotonic_ns()
        self.row[columns.STEPS] += 1
        for descriptor, inode in self.precious:
            try:
                now = os.fstat(descriptor).st_ino
            except OSError:
                now = 0
            if now != inode:
                raise Lost(f"descriptor {descriptor} of a file that is not ours was {'reused' if now else 'closed'}")
