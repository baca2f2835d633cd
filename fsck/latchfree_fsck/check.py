"""Check an arena that nobody has open: are its structures whole, is every word accounted for? And repair it.

Example: of two structures one has a key where the key's hash does not lead. The report has one line of damage, which
names the structure and the word, and nothing is repaired: which entries can be trusted is not known.

Invariant: nothing is written unless a repair was asked for and every structure was found whole. Before the first write
the header says that the arena must be repaired before anybody may open it, until the last write is on disk. So a repair
that is killed can be run again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import header, layout
from latchfree.arena.entry import OWNED, Entry, Words, entries_of, parse_entry, ready, state_of
from latchfree.arena.files import locate
from latchfree.arena.region import Region
from latchfree.errors import ArenaInvalid
from latchfree.structures import RING_BUFFER, name_of
from latchfree_fsck import ring_record
from latchfree_fsck.accounting import Account, account
from latchfree_fsck.reach import Reach
from latchfree_fsck.rebuild import rebuild
from latchfree_fsck.trees import reach, walk

#: In place of a boot's number, which is odd: a repair was begun.
_UNDER_REPAIR = header.state(layout.IN_USE, 2)


@dataclass(frozen=True)
class Structure:
    """One structure of an arena.

    Attributes
    ----------
    name, keys, values : str
        The name of the structure and the names of its codecs, or of its dialect; of a sketch, what its cells hold.
    entries : int
        Number of keys or subscriptions, as far as the structure could be walked; of a sketch, of items added.
    words : int
        Words of its nodes.
    damage : str or None
        What is wrong with the structure, None if nothing is.
    kind : str
        "Ctrie", "ConcurrentTrie", or what sketch it is.
    """

    name: str
    keys: str
    values: str
    entries: int
    words: int
    damage: str | None
    kind: str


@dataclass
class Report:
    """What `fsck` found, and whether the arena was repaired.

    Attributes
    ----------
    where : str
        Path of the arena's file.
    structures : list of Structure
    damage : list of str
        What is lost, a line each: entries cannot be trusted, and nothing is repaired.
    faults : list of str
        What a repair puts right besides leaks, a line each.
    memory : Account or None
        Where the words are; None where damage keeps that from being known.
    snapshots : int
        Words in tables of snapshots, and in what only snapshots of dead processes keep.
    repaired : bool
    """

    where: str
    structures: list[Structure] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    memory: Account | None = None
    snapshots: int = 0
    repaired: bool = False

    @property
    def leaked(self) -> int:
        """Bytes in use for nothing."""
        return 0 if self.memory is None else 8 * self.memory.leaked

    @property
    def sound(self) -> bool:
        """Whether the arena can be used as it is now; it may have leaks."""
        return not self.damage and (self.repaired or not self.faults)

    @property
    def clean(self) -> bool:
        """Whether there is nothing to repair."""
        return self.sound and (self.repaired or not self.leaked)


def directory(words: Words) -> list[Entry]:
    """Return the structures of an arena with a valid header, by name."""
    return sorted(map(parse_entry, ready(entries_of(words))), key=lambda entry: entry.name)


def fsck(
    *,
    name: str | None = None,
    path: str | os.PathLike[str] | None = None,
    repair: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """Check an arena that nobody has open; nobody can open it meanwhile.

    Parameters
    ----------
    name, path : str
        One of them.
    repair : bool
        If its structures are whole, make everything free that they do not reach, and seal the arena.
    progress : callable
        Told what is being done.

    Raises
    ------
    FileNotFoundError
        If there is none.
    BlockingIOError
        If somebody has it open.
    ArenaInvalid
        If it is no arena, or one of another version.
    OSError
        If a repair has no room for what the file claims to have.
    """
    where = locate(name=name, path=path)
    report = Report(str(where))
    try:
        region = Region.open(name=name, path=path, repair=True)
        try:
            _check(region, report, repair, progress)
        finally:
            region.close(clean=report.repaired)
    except ArenaInvalid as error:
        if not _is_arena(where):
            raise
        report.damage.append(str(error).removeprefix(f"{where}: "))
    return report


def _is_arena(where: Path) -> bool:
    """Whether a file begins as arenas of this version do."""
    if not where.is_file():
        return False
    with where.open("rb") as file:
        start = file.read(16)
    return start == layout.MAGIC.to_bytes(8, "little") + layout.LAYOUT_VERSION.to_bytes(8, "little")


def _check(region: Region, report: Report, repair: bool, progress: Callable[[str], None]) -> None:
    words = region.words
    entries = directory(words)
    owned: NDArray[np.uint8] = np.zeros(int(words[layout.H_BUMP]) - layout.FIRST_NODE, np.uint8)
    for entry in entries:
        progress(f"checking {entry.name!r}")
        _check_tree(words, entry, owned, report)
    report.faults += _faults(words)
    if report.damage:
        return
    progress("accounting for the memory")
    _account(words, entries, report)
    if repair:
        progress("rebuilding the free memory")
        _repair(region, entries, owned)
        report.repaired = True


def _check_tree(words: Words, entry: Entry, owned: NDArray[np.uint8], report: Report) -> None:
    tree = walk(words.ctypes.data, entry, owned)
    report.structures.append(
        Structure(entry.name, entry.keys, entry.values, tree.entries, tree.words, tree.damage, name_of(entry.kind))
    )
    if tree.damage:
        report.damage.append(f"structure {entry.name!r}: {tree.damage}")


def _faults(words: Words) -> list[str]:
    """Return the faults that a look at the header shows."""
    faults = []
    state = int(words[layout.H_STATE])
    if state == _UNDER_REPAIR:
        faults.append("a repair was begun and not finished")
    elif header.tag(state) != layout.CLEAN and not header.is_of_this_boot(state):
        faults.append("in use when the system went down, or copied from a running one")
    unfinished = sum(state_of(int(word)) in OWNED for word in entries_of(words)[:, layout.E_STATE])
    if unfinished:
        faults.append(f"directory entries that were being made or removed: {unfinished}")
    return faults


def _account(words: Words, entries: list[Entry], report: Report) -> None:
    base = words.ctypes.data
    found = Reach(base)
    for entry in entries:
        try:
            reach(found, base, entry)
        except ArenaInvalid as error:
            # The tree itself is whole, so it is something that goes when the snapshots do.
            report.faults.append(f"structure {entry.name!r}: in what snapshots keep: {error}")
    memory = account(base, found)
    if memory.faults:
        report.faults.append(f"lists of free memory, damaged in {memory.faults} places")
    report.memory = memory
    report.snapshots = max(0, found.words - sum(structure.words for structure in report.structures))


def _repair(region: Region, entries: list[Entry], owned: NDArray[np.uint8]) -> None:
    words, fd = region.words, region.fd
    if fd is not None:
        # A copy may have holes where nothing has been written yet; without room for them writing would be fatal.
        os.posix_fallocate(fd, 0, int(words[layout.H_BUMP]) * 8)
    words[layout.H_STATE] = _UNDER_REPAIR
    _to_disk(region)
    settled = np.zeros_like(owned)
    for entry in entries:
        walk(words.ctypes.data, entry, settled, settle=True)
    ring_record.keep_roster(words, {entry.root for entry in entries if entry.kind == RING_BUFFER}, settled)
    rebuild(words, settled)
    _to_disk(region)
    words[layout.H_STATE] = header.in_use()


def _to_disk(region: Region) -> None:
    if region.kind == "path" and region.fd is not None:
        os.fsync(region.fd)
