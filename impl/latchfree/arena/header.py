"""The header of an arena: written once, checked whenever a file is opened.

Example: a file is copied while the arena is in use, and the copy is opened after a restart. Its state is IN_USE and the
boot in its header is not the present one, so its words may be torn: opening it is refused, and the error says how to
check it.

Invariant: a file whose state is CLEAN carries, in the same word, the checksum of its first 2048 words, so any change to
them while nobody had it open is found. `latchfree.arena.sealing` says who changes the state. If a file is in use and
nobody has it open, all users were killed; the words they wrote are whole unless the system has gone down since, which
the id of the boot tells.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from latchfree.arena import layout
from latchfree.arena.entry import FREE, OWNED, READY, REMOVED, Words, entries_of, owner_of, parse_entry, state_of
from latchfree.errors import ArenaInvalid
from latchfree_support.digests import blake2b

HEADER_BYTES: Final = layout.PARTICIPANTS * 8
#: Header and participant table.
TABLE_BYTES: Final = layout.FIRST_NODE * 8

_GRANULE = 2 << 20
#: Room for the header and at least 1 MiB of nodes.
MINIMUM_BYTES: Final = -(-(TABLE_BYTES + (1 << 20)) // _GRANULE) * _GRANULE
MAXIMUM_BYTES: Final = 1 << 42

_GENERATIONS = 1 << 40
_EPOCHS = 1 << 62
_OFFSET_MASK = np.uint64((1 << 40) - 1)
#: Bits of a state that tell who is sealing.
_WHO = (1 << 24) - 1
_PAYLOAD = (1 << layout.STATE_SHIFT) - 1
_SHARED_LISTS_END = 1280

_FIELDS = sorted(int(value) for name, value in vars(layout).items() if name.startswith("H_"))
_RESERVED = np.array(
    [k for k in range(layout.HEADER_WORDS) if k not in _FIELDS] + list(range(_SHARED_LISTS_END, layout.PARTICIPANTS))
)


def round_capacity(capacity: int) -> int:
    """Return the bytes of an arena of at least `capacity` bytes: a multiple of 2 MiB.

    Raises
    ------
    ValueError
        If `capacity` is below the minimum of 4 MiB or above 4 TiB.
    """
    if not MINIMUM_BYTES <= capacity <= MAXIMUM_BYTES:
        raise ValueError(
            f"arena capacity must be between {MINIMUM_BYTES} bytes ({MINIMUM_BYTES >> 20} MiB) and "
            f"{MAXIMUM_BYTES} bytes ({MAXIMUM_BYTES >> 40} TiB), got {capacity}"
        )
    return -(-capacity // _GRANULE) * _GRANULE


@cache
def _boot() -> int:
    """Return 48 bits that no other boot of this or another system has."""
    text = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    return int.from_bytes(blake2b(text, digest_size=6).digest(), "little") | 1


def state(tag: int, payload: int) -> int:
    """Return a state word."""
    return tag << layout.STATE_SHIFT | payload


def tag(state: int) -> int:
    """Return what a state word says: `CLEAN`, `SEALING` or `IN_USE` of the layout."""
    return state >> layout.STATE_SHIFT


def in_use() -> int:
    """Return the state of an arena that somebody has open in this boot."""
    return state(layout.IN_USE, _boot())


def sealing(identity: int) -> int:
    """Return the state of an arena that the opening of this identity is about to seal."""
    return state(layout.SEALING, _boot() & ~_WHO | identity & _WHO)


def is_of_this_boot(state: int) -> bool:
    """Return whether a state that is not CLEAN was written in this boot."""
    return state == in_use() or state & ~_WHO == sealing(0)


def checksum(words: Words) -> int:
    """Return the checksum of header, directory and shared lists, 48 bits, without the state."""
    field = int(layout.H_STATE)
    digest = blake2b(words[:field].tobytes(), digest_size=6)
    digest.update(words[field + 1 : layout.PARTICIPANTS].tobytes())
    return int.from_bytes(digest.digest(), "little")


def format_header(words: Words) -> None:
    """Make an arena, in use, of a region of zeros."""
    capacity = len(words)
    words[layout.H_VERSION] = layout.LAYOUT_VERSION
    words[layout.H_CAPACITY] = capacity
    words[layout.H_PARTICIPANTS] = layout.PARTICIPANTS
    words[layout.H_PARTICIPANT_COUNT] = layout.PARTICIPANT_COUNT
    words[layout.H_DIRECTORY] = layout.DIRECTORY
    words[layout.H_CHUNK] = min(max(capacity // 256, 1024), 65536)
    words[layout.H_IDENTITY] = int.from_bytes(os.urandom(8), "little") | 1
    words[layout.H_BUMP] = layout.FIRST_NODE
    words[layout.H_EPOCH] = 1
    words[layout.H_STATE] = in_use()
    words[layout.H_MAGIC] = layout.MAGIC


def participants(words: Words) -> Words:
    """Return the participant slots ever claimed, a row each."""
    claimed = int(words[layout.H_CLAIMED])
    end = layout.PARTICIPANTS + claimed * layout.PARTICIPANT_WORDS
    return words[layout.PARTICIPANTS : end].reshape(claimed, layout.PARTICIPANT_WORDS)


def read(fd: int) -> Words:
    """Return the words of a file that `validate` needs, read and not mapped.

    Directory entries that others are changing are left out, as zeros. Where three readings agree nothing has changed
    from the first to the third, so the second has that part as it was at one instant.
    """
    data, *again = [os.pread(fd, HEADER_BYTES, 0) for _ in range(3)]
    if len(data) == HEADER_BYTES:
        data = _settled(data, *again)
        claimed = int.from_bytes(data[int(layout.H_CLAIMED) * 8 :][:8], "little")
        if claimed <= layout.PARTICIPANT_COUNT:
            data += os.pread(fd, claimed * layout.PARTICIPANT_WORDS * 8, HEADER_BYTES)
    return np.frombuffer(data[: len(data) // 8 * 8], dtype="<u8")


def _settled(data: bytes, *again: bytes) -> bytes:
    """Return a header with zeros for the directory entries in which other readings differ."""
    words = np.frombuffer(data, dtype="<u8").copy()
    for other in again:
        if len(other) == len(data):
            entries = entries_of(words)
            entries[(entries != entries_of(np.frombuffer(other, dtype="<u8"))).any(axis=1)] = 0
    return words.tobytes()


def validate(words: Words, file_bytes: int, where: str, *, alone: bool, repair: bool = False) -> None:
    """Check all of a header that can be checked without walking the structures.

    Parameters
    ----------
    words : ndarray of uint64
        The result of `read`.
    file_bytes : int
        Size of the file.
    where : str
        The name of the file in an error.
    alone : bool
        Nobody else has the file open: its words do not change.
    repair : bool
        Accept an arena that was in use when the system went down.

    Raises
    ------
    ArenaInvalid
        If a check fails; the text names what was found and what was expected.
    """
    _Check(words, where, alone).everything(file_bytes, repair)


class _Check:
    """One validation."""

    def __init__(self, words: Words, where: str, alone: bool) -> None:
        self.words = words
        self.where = where
        self.alone = alone

    def fail(self, text: str) -> None:
        raise ArenaInvalid(f"{self.where}: {text}")

    def get(self, field: np.uint64) -> int:
        return int(self.words[field])

    def equal(self, what: str, field: np.uint64, expected: int) -> None:
        found = self.get(field)
        if found != expected:
            self.fail(f"damaged arena: {what} is {found}, expected {expected}")

    def between(self, what: str, found: int, low: int, high: int) -> None:
        if not low <= found <= high:
            self.fail(f"damaged arena: {what} is {found}, expected {low} to {high}")

    def everything(self, file_bytes: int, repair: bool) -> None:
        self.identity(file_bytes)
        self.shape()
        self.counters()
        self.slots()
        self.lists()
        self.directory()
        self.state(repair)

    def identity(self, file_bytes: int) -> None:
        if file_bytes < TABLE_BYTES or len(self.words) < layout.PARTICIPANTS:
            self.fail(f"not an arena, or cut short: {file_bytes} bytes, and the header alone has {TABLE_BYTES}")
        magic, version = self.get(layout.H_MAGIC), self.get(layout.H_VERSION)
        if magic != layout.MAGIC:
            found = magic.to_bytes(8, "big")
            self.fail(f"not an arena: it begins with {found!r}, expected {layout.MAGIC.to_bytes(8, 'big')!r}")
        if version > layout.LAYOUT_VERSION:
            self.fail(
                f"layout version {version} is newer than version {layout.LAYOUT_VERSION}, "
                "the newest this latchfree knows; open it with a newer latchfree"
            )
        if version < layout.LAYOUT_VERSION:
            self.fail(
                f"layout version {version} is older than version {layout.LAYOUT_VERSION}, "
                "the only one this latchfree knows; create it anew, or open it with the latchfree that wrote it"
            )
        expected = self.get(layout.H_CAPACITY) * 8
        if file_bytes < expected:
            self.fail(f"cut short: {file_bytes} bytes, and its header says {expected}")
        if file_bytes > expected:
            self.fail(f"damaged arena: {file_bytes} bytes, and its header says {expected}")
        self.between("the capacity in bytes", expected, MINIMUM_BYTES, MAXIMUM_BYTES)

    def shape(self) -> None:
        self.equal("the offset of the participant table", layout.H_PARTICIPANTS, layout.PARTICIPANTS)
        self.equal("the number of participants", layout.H_PARTICIPANT_COUNT, layout.PARTICIPANT_COUNT)
        self.equal("the offset of the directory", layout.H_DIRECTORY, layout.DIRECTORY)
        self.between("the words in a chunk", self.get(layout.H_CHUNK), 1, self.get(layout.H_CAPACITY))
        if self.get(layout.H_IDENTITY) == 0:
            self.fail("damaged arena: its identity is 0, expected a random number")
        used = _RESERVED[self.words[_RESERVED] != 0]
        if len(used):
            self.fail(f"damaged arena: reserved word {used[0]} is {self.get(used[0])}, expected 0")

    def counters(self) -> None:
        bump, capacity = self.get(layout.H_BUMP), self.get(layout.H_CAPACITY)
        self.between("the first unused word", bump, layout.FIRST_NODE, capacity)
        self.between("the generation", self.get(layout.H_GENERATION), 0, _GENERATIONS - 1)
        self.between("the epoch", self.get(layout.H_EPOCH), 1, _EPOCHS - 1)
        self.between(
            "the number of slots ever claimed", self.get(layout.H_CLAIMED), 0, self.get(layout.H_PARTICIPANT_COUNT)
        )
        # Others may have moved the limit since it was read.
        self.end = bump if self.alone else capacity
        owned = self.get(layout.H_OWNED)
        if owned:
            self.between("the table of what openings own", owned, layout.FIRST_NODE, self.end - 1)

    def slots(self) -> None:
        claimed = self.get(layout.H_CLAIMED)
        expected = layout.PARTICIPANTS + claimed * layout.PARTICIPANT_WORDS
        if len(self.words) < expected:
            self.fail(f"cut short: {len(self.words)} words could be read of a header of {expected}")
        epoch = self.get(layout.H_EPOCH) if self.alone else _EPOCHS
        for k, slot in enumerate(participants(self.words)):
            of = f"of participant {k}"
            pin = int(slot[layout.P_PIN])
            if pin:
                self.between(f"the epoch pinned {of}", pin >> 1, 0, epoch)
                if not pin & 1:
                    self.fail(f"damaged arena: the pin {of} is {pin}, expected 0 or an odd number")
            for what, field in (("next free word", layout.P_BUMP), ("end of the chunk", layout.P_LIMIT)):
                if slot[field]:
                    self.between(f"the {what} {of}", int(slot[field]), layout.FIRST_NODE, self.end)

    def lists(self) -> None:
        heads = self.words[int(layout.SHARED_LISTS) : _SHARED_LISTS_END] & _OFFSET_MASK
        bad = np.flatnonzero((heads != 0) & ((heads < layout.FIRST_NODE) | (heads >= self.end)))
        if len(bad):
            k = int(bad[0])
            self.between(f"the head of shared free list {k}", int(heads[k]), layout.FIRST_NODE, self.end - 1)

    def directory(self) -> None:
        entries = entries_of(self.words)
        names: dict[str, int] = {}
        for k in np.flatnonzero(entries.any(axis=1)):
            word = int(entries[k, layout.E_STATE])
            state, what = state_of(word), f"directory entry {k}"
            self.between(f"the state of {what}", state, FREE, REMOVED)
            if (owner_of(word) != 0) != (state in OWNED):
                self.fail(f"damaged arena: {what} is in state {state} and has owner {owner_of(word)}")
            if state == FREE and entries[k, 1:].any():
                self.fail(f"damaged arena: {what} is free but not empty")
            if state != READY:
                continue
            try:
                entry = parse_entry(entries[k])
            except ValueError as error:
                raise ArenaInvalid(f"{self.where}: damaged arena: {what} has {error}") from None
            self.between(f"the root record of {what} ({entry.name!r})", entry.root, layout.FIRST_NODE, self.end - 1)
            if entry.name in names:
                self.fail(f"damaged arena: directory entries {names[entry.name]} and {k} are both named {entry.name!r}")
            names[entry.name] = int(k)

    def state(self, repair: bool) -> None:
        state = self.get(layout.H_STATE)
        if tag(state) == layout.CLEAN:
            expected, found = checksum(self.words), state & _PAYLOAD
            if found != expected:
                self.fail(f"damaged arena: the checksum of its header is {found:#014x}, expected {expected:#014x}")
        elif tag(state) in (layout.IN_USE, layout.SEALING):
            if not repair and not is_of_this_boot(state):
                self.fail(
                    "in use when the system went down, or copied from a running one: its content may be torn; "
                    f"check it with: latchfree arena fsck {self.where} --repair"
                )
        else:
            self.fail(
                f"damaged arena: its state is {state:#018x}, expected {layout.CLEAN:#06x} (closed), "
                f"{layout.IN_USE:#06x} (in use) or {layout.SEALING:#06x} (being closed) at the front"
            )
