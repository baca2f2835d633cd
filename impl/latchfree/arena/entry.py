"""An entry of the root directory: what its 16 words say of a structure, and what its state word says of the entry.

Example: the entry of the Ctrie ``stock`` has the name, the kind, the names of the codecs, and the offset of the root
record. Its state word is READY with version 5: the entry has been given back five times before.

A state word has 3 bits of state, 14 bits of version, and 47 bits of the identity of the opening that owns the entry. An
entry that is FREE or READY belongs to nobody. Only the owner writes the other words; see `latchfree.arena.directory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import layout
from latchfree.arguments import shown
from latchfree.structures import name_of

Words: TypeAlias = NDArray[np.uint64]

#: CREATING, PROPOSED and REMOVED have an owner: the opening that makes or removes the structure.
FREE, CREATING, PROPOSED, READY, REMOVED = range(5)
OWNED = (CREATING, PROPOSED, REMOVED)

_STATE_BITS, _VERSION_BITS = 3, 14
_OWNER_SHIFT = _STATE_BITS + _VERSION_BITS

MAX_NAME_BYTES = 48
MAX_CODEC_BYTES = 16


def state_of(word: int) -> int:
    """Return the state in a state word."""
    return word & ((1 << _STATE_BITS) - 1)


def owner_of(word: int) -> int:
    """Return the identity of the opening that owns the entry, 0 if none does."""
    return word >> _OWNER_SHIFT


def changed(word: int, state: int, owner: int = 0) -> int:
    """Return a state word with the version of another; that of a FREE one is the next."""
    version = (word >> _STATE_BITS) + (state == FREE)
    return state | (version & ((1 << _VERSION_BITS) - 1)) << _STATE_BITS | owner << _OWNER_SHIFT


def entries_of(words: Words) -> Words:
    """Return the entries of an arena, a row each."""
    end = layout.DIRECTORY + layout.DIRECTORY_ENTRIES * layout.ENTRY_WORDS
    return words[layout.DIRECTORY : end].reshape(-1, layout.ENTRY_WORDS)


def ready(entries: Words) -> Words:
    """Return those entries that are READY."""
    found: Words = entries[entries[:, layout.E_STATE] & np.uint64((1 << _STATE_BITS) - 1) == READY]
    return found


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
    TypeError, ValueError
        If it is no string, empty, longer than 48 bytes, or not text.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str of 1 to {MAX_NAME_BYTES} bytes, not {type(name).__name__} {shown(name)}")
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
    """Read the 16 words of an entry that is READY or PROPOSED.

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
    if not np.array_equal(image(entry)[1:], words[1:]):
        raise ValueError("unused bytes that are not zero")
    return entry


def image(entry: Entry) -> Words:
    """Return the words of an entry, without its state."""
    name = encode_name(entry.name)
    words = np.zeros(layout.ENTRY_WORDS, np.uint64)
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
