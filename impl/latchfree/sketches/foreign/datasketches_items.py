"""The bytes of a `frequent_strings_sketch` of Apache DataSketches: strings, their counts, and how wrong these may be.

Example: "tea" with the count 40 and the offset 3 says that "tea" was added at least 40 and at most 43 times, and that
each string which is not there was added at most 3 times.

=======  ======================================================================
bytes    content, little-endian
=======  ======================================================================
0        words of 8 bytes before the counts: 1 if empty, else 4
1        version, 1
2        family, 10
3, 4     of the table of hashes: 2**this entries at most, and now
5        flags: 4 and 1 empty
8-11     strings
16-23    sum of all that was added
24-31    offset
32-      counts of 8 bytes; then each string: its length in 4 bytes, its UTF-8
=======  ======================================================================

These bytes are read, and not written. A sketch of DataSketches promises that a string is added no seldomer than it
says, and that one which is not there is added at most as often as the offset. `TopK` knows neither for certain: its
counts are too high by other items in the same counters, and after a merge an item that both tables have thrown out may
have been added as often as the lowest of both together.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np

from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.stored import MOST_ADDED

_FAMILY: Final = 10
_EMPTY: Final = 5
_HEAD: Final = struct.Struct("<6B2x")
_FULL: Final = struct.Struct("<I4x2Q")
_START: Final = _HEAD.size + _FULL.size
_LENGTH: Final = struct.Struct("<I")
_MOST_TABLE: Final = 26


class Frequent(NamedTuple):
    """What such a sketch has.

    Attributes
    ----------
    counts : dict
        Of each string, how often it was added at least.
    offset : int
        How much more often it may have been added; and how often a string may have been that is not there.
    total : int
        The sum of all counts added.
    """

    counts: dict[str, int]
    offset: int
    total: int


def unpack(data: bytes) -> Frequent:
    """Return what a sketch in bytes has.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a sketch.
    """
    if len(data) < _HEAD.size:
        raise SketchInvalid(f"no sketch of frequent strings of DataSketches: it has {len(data)} bytes; give all bytes")
    words, version, family, most, now, flags = _HEAD.unpack_from(data)
    empty = bool(flags & _EMPTY)
    if (words, version, family) != (1 if empty else 4, 1, _FAMILY) or not now <= most <= _MOST_TABLE:
        raise SketchInvalid(
            "these are not the bytes of a sketch of frequent strings of DataSketches, of a version that we read (1); "
            "write it with frequent_strings_sketch.serialize"
        )
    if empty:
        if len(data) != _HEAD.size:
            raise _damaged(f"it is empty and has {len(data):,} bytes")
        return Frequent({}, 0, 0)
    if len(data) < _START:
        raise _damaged("it is cut short")
    count, total, offset = _FULL.unpack_from(data, _HEAD.size)
    if len(data) < _START + 12 * count:
        raise _damaged(f"{count:,} strings need more than {len(data):,} bytes")
    counts = np.frombuffer(data, "<u8", count, _START).tolist()
    texts = _texts_of(data, _START + 8 * count, count)
    if len(set(texts)) != count or 0 in counts:
        raise _damaged("a string is there twice, or with the count 0")
    if total > MOST_ADDED or offset > total or sum(counts) > total:
        raise _damaged(f"its counts are more than the sum of all, {total:,}, or that is above {MOST_ADDED:,}")
    return Frequent(dict(zip(texts, counts, strict=True)), offset, total)


def _texts_of(data: bytes, at: int, count: int) -> list[str]:
    """Return the strings with which the bytes end."""
    found = []
    for _ in range(count):
        if len(data) < at + _LENGTH.size:
            raise _damaged("it is cut short")
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if len(data) < at + length:
            raise _damaged("it is cut short")
        try:
            found.append(data[at : at + length].decode())
        except UnicodeDecodeError:
            raise _damaged("a string is no UTF-8") from None
        at += length
    if at != len(data):
        raise _damaged(f"{len(data) - at:,} bytes follow its strings")
    return found


def _damaged(why: str) -> SketchInvalid:
    return SketchInvalid(f"a damaged sketch of frequent strings of DataSketches: {why}; write it anew")
