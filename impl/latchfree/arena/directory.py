"""The root directory: which structures are in an arena, by name, and where their root records are.

Example: `Ctrie.create(arena, "stock", ...)` fills the first free entry of 16 words with the name ``stock``, the kind,
the names of the codecs, and the offset of the root record; then it sets the state of the entry to READY.

Invariant: the state of an entry is written last when it becomes READY or FREE, and first when it leaves either; so an
entry found READY is whole and one found FREE is all zeros, whenever a process was killed. Everything happens under
one lock, which a dead process does not hold: whoever holds it and finds an entry CREATING or REMOVED knows that its
owner died at that, and may use the entry again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import layout
from latchfree.errors import DirectoryFull, StructureExists, StructureMissing
from latchfree.structures import name_of

Words: TypeAlias = NDArray[np.uint64]

FREE, CREATING, READY, REMOVED = range(4)

MAX_NAME_BYTES = 48
MAX_CODEC_BYTES = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One structure, as the directory has it.

    Attributes
    ----------
    name : str
        Its name in the arena.
    root : int
        Word offset of its root record.
    kind : int
        Number of its kind, see `latchfree.structures`.
    keys, values : str
        Names of its codecs; of a topic trie, that of its dialect and "subscriber".
    hash_mask : int
        Mask of the hash bits it uses.
    """

    name: str
    root: int
    kind: int
    keys: str
    values: str
    hash_mask: int


def encode_name(name: str) -> bytes:
    """Return the bytes of a structure's name.

    Raises
    ------
    ValueError
        If it is empty, longer than 48 bytes, or not text.
    """
    try:
        encoded = name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"structure name {name!r} is not valid Unicode: {error.reason}") from None
    if not 1 <= len(encoded) <= MAX_NAME_BYTES or 0 in encoded:
        raise ValueError(
            f"a structure's name has 1 to {MAX_NAME_BYTES} bytes of UTF-8 and no NUL, "
            f"got {name!r} ({len(encoded)} bytes)"
        )
    return encoded


def _encode_codec(role: str, codec: str) -> bytes:
    if not (codec.isascii() and codec.isprintable() and 1 <= len(codec) <= MAX_CODEC_BYTES):
        raise ValueError(f"the name of the {role} codec has 1 to {MAX_CODEC_BYTES} ASCII characters, got {codec!r}")
    return codec.encode()


def _pack(text: bytes, words: int) -> Words:
    return np.frombuffer(text.ljust(words * 8, b"\0"), dtype="<u8")


def _unpack_codec(words: Words, field: int) -> str:
    return words[field : field + 2].tobytes().rstrip(b"\0").decode("ascii")


def parse_entry(words: Words) -> Entry:
    """Read the 16 words of a READY entry.

    Raises
    ------
    ValueError
        If they are not what this module writes; the text says what is wrong.
    """
    length = int(words[layout.E_NAME_LENGTH])
    if not 1 <= length <= MAX_NAME_BYTES:
        raise ValueError(f"name length {length}, expected 1 to {MAX_NAME_BYTES}")
    entry = Entry(
        name=words[layout.E_NAME :].tobytes()[:length].decode(),
        root=int(words[layout.E_ROOT]),
        kind=int(words[layout.E_KIND]),
        keys=_unpack_codec(words, layout.E_KEYS),
        values=_unpack_codec(words, layout.E_VALUES),
        hash_mask=int(words[layout.E_HASH_MASK]),
    )
    name_of(entry.kind)
    if not np.array_equal(_image(entry), words):
        raise ValueError("unused bytes that are not zero")
    return entry


def _image(entry: Entry) -> Words:
    """Return the words of a READY entry."""
    name = encode_name(entry.name)
    words = np.zeros(layout.ENTRY_WORDS, np.uint64)
    words[layout.E_STATE] = READY
    words[layout.E_ROOT] = entry.root
    words[layout.E_KIND] = entry.kind
    words[layout.E_NAME_LENGTH] = len(name)
    words[layout.E_KEYS : layout.E_KEYS + 2] = _pack(_encode_codec("key", entry.keys), 2)
    words[layout.E_VALUES : layout.E_VALUES + 2] = _pack(_encode_codec("value", entry.values), 2)
    words[layout.E_HASH_MASK] = entry.hash_mask
    words[layout.E_NAME :] = _pack(name, MAX_NAME_BYTES // 8)
    return words


def check_codecs(entry: Entry, *, keys: str, values: str) -> None:
    """Make sure that a structure is opened with the codecs it was created with.

    Raises
    ------
    ValueError
        If one differs; the text names both.
    """
    for role, stored, asked in (("key", entry.keys, keys), ("value", entry.values, values)):
        if stored != asked:
            raise ValueError(
                f"structure {entry.name!r} was created with the {role} codec {stored!r}, "
                f"not {asked!r}; open it with {stored!r}"
            )


class Directory:
    """The directory of an arena.

    Parameters
    ----------
    words : ndarray of uint64
        The arena, or at least its header.
    lock : callable
        Returns a context manager that excludes all other users of the directory. It is not reentrant: what `create`
        and `remove` call back must not use the directory.
    """

    def __init__(self, words: Words, lock: Callable[[], AbstractContextManager[None]]) -> None:
        shape = (layout.DIRECTORY_ENTRIES, layout.ENTRY_WORDS)
        size = layout.DIRECTORY_ENTRIES * layout.ENTRY_WORDS
        self._entries = words[layout.DIRECTORY : layout.DIRECTORY + size].reshape(shape)
        self._lock = lock

    def _ready(self) -> dict[str, int]:
        return {parse_entry(words).name: k for k, words in enumerate(self._entries) if words[layout.E_STATE] == READY}

    def create(
        self, name: str, *, kind: int, keys: str, values: str, hash_mask: int, build: Callable[[], int]
    ) -> Entry:
        """Add a structure: `build` makes it and returns the offset of its root record.

        If `build` raises, the directory is as before. If the process is killed in it, what it has made is lost, but
        not the entry.

        Raises
        ------
        StructureExists
            If the name is taken.
        DirectoryFull
            If there are 64 structures.
        ValueError
            If a name is unfit.
        """
        planned = Entry(name, 0, kind, keys, values, hash_mask)
        _image(planned)  # raises where a name is unfit
        with self._lock():
            if name in self._ready():
                raise StructureExists(f"structure {name!r} exists already; open it, remove it, or choose another name")
            unused = np.flatnonzero(self._entries[:, layout.E_STATE] != READY)
            if len(unused) == 0:
                raise DirectoryFull(
                    f"the arena has {layout.DIRECTORY_ENTRIES} structures, the most it can name; "
                    "remove one, or use another arena"
                )
            words = self._entries[unused[0]]
            words[layout.E_STATE] = CREATING
            try:
                entry = Entry(name, build(), kind, keys, values, hash_mask)
            except BaseException:
                _erase(words)
                raise
            words[1:] = _image(entry)[1:]
            words[layout.E_STATE] = READY
            return entry

    def find(self, name: str, kind: int | None = None) -> Entry:
        """Return the entry of a structure.

        Raises
        ------
        StructureMissing
            If there is none of that name; the text lists those there are.
        ValueError
            If it is of another kind than the one given.
        """
        with self._lock():
            found = parse_entry(self._entries[self._index(name)])
        if kind is not None and found.kind != kind:
            raise ValueError(
                f"structure {name!r} is a {name_of(found.kind)}, not a {name_of(kind)}; "
                f"open it with {name_of(found.kind)}.open"
            )
        return found

    def _index(self, name: str) -> int:
        ready = self._ready()
        if name not in ready:
            known = ", ".join(map(repr, sorted(ready))) or "none"
            raise StructureMissing(f"the arena has no structure {name!r}; there are: {known}")
        return ready[name]

    def entries(self) -> list[Entry]:
        """Return the entries of all structures, by name."""
        with self._lock():
            return [parse_entry(self._entries[k]) for _, k in sorted(self._ready().items())]

    def remove(self, name: str, dismantle: Callable[[Entry], None] | None = None) -> Entry:
        """Remove a structure's name, and have `dismantle` free its memory.

        The name is gone even if `dismantle` raises or the process is killed in it.

        Raises
        ------
        StructureMissing
            If there is none of that name.
        """
        with self._lock():
            words = self._entries[self._index(name)]
            entry = parse_entry(words)
            words[layout.E_STATE] = REMOVED
            try:
                if dismantle is not None:
                    dismantle(entry)
            finally:
                _erase(words)
            return entry


def _erase(words: Words) -> None:
    """Make an entry FREE; it is not READY."""
    words[1:] = 0
    words[layout.E_STATE] = FREE
