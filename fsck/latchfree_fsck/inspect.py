"""Say what is in an arena without taking part: the file is read and mapped read-only, and no lock is taken.

Example: `inspect` of an arena in use lists three participants, one of them pinned since epoch 17, and two structures,
whose keys are not counted, as others may be changing them.

Numbers that others change meanwhile may be off by what the others are doing. No word is trusted, so nothing worse
happens.
"""

from __future__ import annotations

import mmap
import os
import stat
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import filelocks, header, layout
from latchfree.arena.entry import Entry, Words
from latchfree.arena.files import locate
from latchfree.arena.kernels.blocks import COUNT, LINK
from latchfree.arena.kernels.node import BLOCK, SIZE_MASK
from latchfree.atomics import peek
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.structures import name_of
from latchfree_fsck.check import directory
from latchfree_fsck.holders import Holder, Unfinished, holders, identity_of, unfinished
from latchfree_fsck.nodes import node_words
from latchfree_fsck.trees import walk

_0 = np.uint64(0)

#: Bytes of nodes up to which keys are counted: a matter of a second or two.
COUNTED_BYTES = 256 << 20

#: Blocks of a limbo that are looked at: others may be at it, and it may seem to have no end.
_MOST_BLOCKS = 1 << 20


@dataclass(frozen=True)
class Participant:
    """A slot of one opening of an arena."""

    slot: int
    process: int
    alive: bool
    pinned: int | None
    """The epoch it has pinned, if it is in an operation."""
    waiting: int
    """Nodes (or whole trees) it has retired that wait to be freed."""
    identity: int
    """The identity of its opening of the arena."""


@dataclass(frozen=True)
class Contents:
    """One structure. `entries` is None where the keys were not counted, and then `why` says why not."""

    name: str
    keys: str
    values: str
    hash_mask: int
    entries: int | None
    why: str
    kind: str


@dataclass(frozen=True)
class Inspection:
    """What `inspect` found; sizes are in bytes.

    Attributes
    ----------
    where : str
        Path of the file.
    in_use : bool
        Somebody has it open.
    sealed : bool
        It was closed in good order.
    version, capacity, used, allocated : int
        As of `latchfree.Arena`; `used` is what participants were given.
    generation, epoch : int
        Last generation handed out, and the epoch of reclamation.
    waiting : int
        Nodes (or whole trees) that wait to be freed, also those that participants have left who are gone.
    structures : list of Contents
    participants : list of Participant
        Those that are claimed.
    holders : list of Holder
        Those of them that hold the epoch back, so that nothing is freed.
    unfinished : list of Unfinished
        Structures that are being created or removed.
    """

    where: str
    in_use: bool
    sealed: bool
    version: int
    capacity: int
    used: int
    allocated: int
    generation: int
    epoch: int
    waiting: int
    structures: list[Contents]
    participants: list[Participant]
    holders: list[Holder]
    unfinished: list[Unfinished]


@kernel
def _waiting(mem: Handle, block: Word, top: Word) -> Word:
    """Return the number of entries of a limbo, of which others may be taking blocks."""
    total = _0
    for _ in range(_MOST_BLOCKS):
        if block == _0 or node_words(mem, block, top, BLOCK, _0) == _0:
            break
        total += min(peek(mem, block + COUNT), SIZE_MASK)
        block = peek(mem, block + LINK)
    return total


def inspect(
    *, name: str | None = None, path: str | os.PathLike[str] | None = None, counted_bytes: int = COUNTED_BYTES
) -> Inspection:
    """Say what is in an arena, and neither disturb anybody nor change anything.

    Parameters
    ----------
    name, path : str
        One of them.
    counted_bytes : int
        Keys are counted up to this size of the arena in bytes, if nobody has it open.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ArenaInvalid
        If the file is no arena, or damaged.
    """
    target = locate(name=name, path=path)
    filelocks.require_linux()
    fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ArenaInvalid(f"{target}: not an arena: not a regular file")
        return _inspect(fd, str(target), counted_bytes)
    finally:
        os.close(fd)


def _in_use(fd: int) -> bool:
    return filelocks.anybody(fd)


def _inspect(fd: int, where: str, counted_bytes: int) -> Inspection:
    in_use = _in_use(fd)
    size = os.fstat(fd).st_size
    head = header.read(fd)
    try:
        header.validate(head, size, where, alone=False, repair=True)
    except ArenaInvalid:
        # Changed by whoever came or left just now.
        in_use = _in_use(fd)
        head = header.read(fd)
        header.validate(head, size, where, alone=not in_use, repair=True)
    # The mapping ends with its last array, which numba's compiler may hold for a while if it was called meanwhile.
    words = np.frombuffer(mmap.mmap(fd, size, access=mmap.ACCESS_READ), dtype=np.uint64)
    return _look(fd, words, head, where, in_use, counted_bytes)


def _look(fd: int, words: Words, head: Words, where: str, in_use: bool, counted_bytes: int) -> Inspection:
    top = int(head[layout.H_BUMP])
    table = header.participants(head)
    base, limit = np.uint64(words.ctypes.data), np.uint64(top)
    waiting = [int(_waiting(base, row[layout.P_OLDEST], limit)) for row in table]
    is_alive = partial(filelocks.is_taken, fd)
    participants = []
    for k, row in enumerate(table):
        identity, pin = identity_of(row), int(row[layout.P_PIN])
        if identity:
            pinned = pin >> 1 if pin else None
            participants.append(
                Participant(k, int(row[layout.P_PID]), is_alive(identity), pinned, waiting[k], identity)
            )
    structures = _contents(fd, words, directory(head), top, in_use, counted_bytes)
    live = int(table[:, int(layout.P_LIVE)].sum(dtype=np.uint64)) & ((1 << 63) - 1)
    return Inspection(
        where=where,
        in_use=in_use,
        sealed=header.tag(int(head[layout.H_STATE])) == layout.CLEAN,
        version=int(head[layout.H_VERSION]),
        capacity=words.nbytes,
        used=8 * top,
        allocated=8 * live,
        generation=int(head[layout.H_GENERATION]),
        epoch=int(head[layout.H_EPOCH]),
        waiting=sum(waiting),
        structures=structures,
        participants=participants,
        holders=holders(head, is_alive),
        unfinished=unfinished(head, is_alive),
    )


def _contents(
    fd: int, words: Words, entries: list[Entry], top: int, in_use: bool, counted_bytes: int
) -> list[Contents]:
    why = ""
    if in_use:
        why = "in use"
    elif 8 * (top - layout.FIRST_NODE) > counted_bytes:
        why = "large: latchfree arena fsck counts"
    owned: NDArray[np.uint8] = np.zeros(0 if why else top - layout.FIRST_NODE, np.uint8)
    structures = []
    for entry in entries:
        count, reason = None, why
        if not why:
            tree = walk(words.ctypes.data, entry, owned)
            if _in_use(fd):
                reason = "in use"
            elif tree.damage:
                reason = f"damaged: {tree.damage}"
            else:
                count = tree.entries
        structures.append(
            Contents(entry.name, entry.keys, entry.values, entry.hash_mask, count, reason, name_of(entry.kind))
        )
    return structures
