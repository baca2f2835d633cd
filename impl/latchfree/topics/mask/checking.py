"""Check the arrays of an index that came from a file: whatever compiled code follows leads to where it should.

Example: an entry of the table says 7: the record at byte 24. So somewhere in the records there must be one that begins
at byte 24. A file whose entry says 2**31 has a checksum that fits, if its writer wanted that, and is refused here.

Invariant: after `check` each number that compiled code takes for a place is one. Each name of a record is that of a
record, which ends where the next one begins. Each node of the trie but the root is below exactly one other. The table
and the edges have free places. So a search reads nothing outside of the arrays, and ends.

Whether the index has the right answers is not looked at: that would be to build it anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.extras import optional
from latchfree.topics.dialects import DIALECTS
from latchfree.topics.errors import IndexInvalid
from latchfree.topics.mask.groups import bounds_of
from latchfree.topics.mask.kernels.records import HEAD, IN_TRIE
from latchfree.topics.mask.kernels.shapes import MOST_GROUPS, MOST_WORDS

pa: Any = optional("pyarrow", "topics")

#: The arrays of an index: their types, and the lengths of those that always have the same.
KINDS: Final[dict[str, tuple[str, int | None]]] = {
    "masks": ("<u8", None),
    "depths": ("|i1", None),
    "exact_at": ("|i1", MOST_WORDS + 3),
    "open_to": ("|i1", MOST_WORDS + 2),
    "filter": ("<u8", None),
    "entries": ("<u8", None),
    "records": ("|u1", None),
    "width": ("|i1", 1),
    "trie_keys": ("<u8", None),
    "trie_child": ("<u4", None),
    "trie_word": ("<u8", None),
    "trie_size": ("<u4", None),
    "trie_one": ("<u4", None),
    "trie_many": ("<u4", None),
    "trie_name": ("<u4", None),
    "trie_loops": ("|u1", None),
    "trie_inner": ("<i8", 1),
    "distinct": ("|i1", 1),
}
#: Those of an index whose subscribers are strings.
NAMES: Final[dict[str, tuple[str, int | None]]] = {"name_offsets": ("<i8", None), "name_bytes": ("|u1", None)}

_LOW: Final = np.uint64(0xFFFFFFFF)

Arrays = Mapping[str, NDArray[Any]]


class _Wrong(Exception):
    """What is wrong, in a few words."""


def check(plain: Mapping[str, Any], arrays: Arrays, source: str) -> None:
    """Make sure that compiled code can follow the arrays.

    Raises
    ------
    IndexInvalid
        If not; the text says what is wrong.
    """
    try:
        _check_kinds(plain, arrays)
        _check_groups(arrays, DIALECTS[plain["dialect"]].least)
        in_table, in_trie = _names(arrays)
        _check_records(arrays, in_table, in_trie)
        _check_trie(arrays)
    except _Wrong as error:
        raise _damaged(source, error) from None


def names_of(arrays: Arrays, source: str, *, check: bool) -> Any:
    """Return the subscribers that are strings, as an Arrow array.

    Raises
    ------
    IndexInvalid
        If they are none; looked at with `check`.
    """
    buffers = [None, pa.py_buffer(arrays["name_offsets"]), pa.py_buffer(arrays["name_bytes"])]
    try:
        column = pa.Array.from_buffers(pa.large_string(), len(arrays["name_offsets"]) - 1, buffers)
        if check:
            column.validate(full=True)
        return column.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise _damaged(source, error) from None


def _damaged(source: str, error: Exception) -> IndexInvalid:
    return IndexInvalid(f"{source} is damaged: {error}; freeze and save the index again")


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise _Wrong(otherwise)


def _check_kinds(plain: Mapping[str, Any], arrays: Arrays) -> None:
    dialect = plain.get("dialect")
    _require(isinstance(dialect, str) and dialect in DIALECTS, "it is of an unknown dialect")
    kinds = {**KINDS, **NAMES} if NAMES.keys() & arrays.keys() else KINDS
    _require(arrays.keys() == kinds.keys(), "it has other arrays than an index has")
    for name, (kind, length) in kinds.items():
        _require(arrays[name].dtype.str == kind, f"the array {name} is of another type")
        _require(length in (None, len(arrays[name])), f"the array {name} has another length")
    _require(len(arrays.get("name_offsets", "0")), "the array name_offsets is empty")
    _require(arrays["width"][0] in (4, 8), "a subscriber has neither 4 nor 8 bytes")


def _check_groups(arrays: Arrays, least: int) -> None:
    masks, depths = arrays["masks"], arrays["depths"].astype(np.int64)
    _require(len(masks) == len(depths) <= MOST_GROUPS, "it has too many groups")
    _require(np.all((depths >= 0) & (depths <= MOST_WORDS)), "a group has too many words")
    short = depths < MOST_WORDS
    _require(not np.any(masks[short] >> depths[short].astype(np.uint64)), "a group has wildcards behind its words")
    exact = int(arrays["exact_at"][MOST_WORDS + 1])
    _require(0 <= exact <= len(depths), "its groups are not those of its words")
    for part in (depths[:exact], depths[exact:]):
        _require(np.all(part[:-1] <= part[1:]), "its groups are in another order")
    for name, bounds in zip(("exact_at", "open_to"), bounds_of(depths[:exact], depths[exact:], least), strict=True):
        _require(np.array_equal(arrays[name], bounds), "its groups are not those of its words")


def _names(arrays: Arrays) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the names of records in the table and in the trie."""
    _require(0 < len(arrays["filter"]) < 1 << 26, "its filter is too short or too long")
    entries = arrays["entries"]
    used = entries[entries != 0]
    _require(len(used) < len(entries) < 1 << 32, "its table is full, or too large")
    return (used & _LOW).astype(np.int64), arrays["trie_name"][arrays["trie_name"] != 0].astype(np.int64)


def _check_records(arrays: Arrays, in_table: NDArray[np.int64], in_trie: NDArray[np.int64]) -> None:
    """Make sure that the names are those of all records, each once, and that the records lie one behind the other."""
    size, width = len(arrays["records"]), int(arrays["width"][0])
    _require(size % 4 == 0, "its records end in the midst of one")
    words = arrays["records"].view("<u4")
    names = np.concatenate([in_table, in_trie])
    _require(np.all((names >= 1) & (names < len(words))), "a name is none of a record")
    counts = words[names - 1].astype(np.int64)
    lengths, groups = (words[names] & 0xFFFF).astype(np.int64), words[names] >> np.uint32(16)
    _require(np.all(groups[: len(in_table)] < len(arrays["masks"])), "a pattern of the table is of no group")
    _require(np.all(groups[len(in_table) :] == IN_TRIE), "a pattern of the trie is of a group")
    ends = names + ((HEAD - 1 + width * counts + lengths) >> 2)  # of words, as the names
    _require(np.all(ends <= len(words)), "its records do not lie one behind the other")
    begin, end = np.zeros((2, len(words) + 1), bool)
    begin[names - 1] = end[ends] = end[0] = begin[-1] = True
    # As many different begins as records, and the same ends: the last record ends at the end of all, so the one before
    # ends where the last begins, and so on.
    _require(np.count_nonzero(begin) == len(names) + 1, "two of its records begin at one place")
    _require(np.array_equal(begin, end), "its records do not lie one behind the other")


def _check_trie(arrays: Arrays) -> None:
    trie = {name[len("trie_") :]: array for name, array in arrays.items() if name.startswith("trie_")}
    nodes, edges = len(trie["one"]), len(trie["keys"])
    _require(nodes >= 2, "its trie has no root")
    _require(all(len(trie[name]) == nodes for name in ("many", "name", "loops")), "its nodes are of several numbers")
    _require(all(len(trie[name]) == edges for name in ("child", "word", "size")), "its edges are of several numbers")
    used = trie["keys"] != 0
    _require(not np.all(used), "its trie has no room for another edge")
    below = np.concatenate([trie["child"][used], *(trie[name][trie[name] != 0] for name in ("one", "many"))])
    _require(np.all(below < nodes), "a node is none of its trie")
    _require(np.all(np.bincount(below, minlength=nodes)[2:] == 1), "two ways lead to one node of its trie, or none")
    _require(len(below) == nodes - 2, "a way leads to the root of its trie")
    word, size, held = trie["word"][used], trie["size"][used], len(arrays["records"])
    _require(np.all((word <= held) & (size <= held - np.minimum(word, held))), "a word is none of its records")
