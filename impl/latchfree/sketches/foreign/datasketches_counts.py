"""The bytes of a Count-Min sketch as Apache DataSketches writes a `count_min_sketch` of floats, in C++ and Python.

=======  ======================================================================
bytes    content, little-endian
=======  ======================================================================
0        words of 8 bytes before the counters, 2
1        version, 1
2        family, 18
3        flags: 1 empty
8-11     counters of a row
12       rows
13-14    hash of the seed
16-23    sum of all that was added, a float
24-      counters, floats, row by row; nothing from byte 16 on if empty
=======  ======================================================================

Example: a sketch of 3 rows of 10 counters has 24 + 240 bytes. A float holds a count exactly up to 2**53.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.shapes import MOST_FOREIGN
from latchfree.sketches.common.stored import MOST_ADDED, check_counters

Words: TypeAlias = NDArray[np.uint64]

_FAMILY: Final = 18
_EMPTY: Final = 1
_HEAD: Final = struct.Struct("<4B4xIBHx")
#: Counts from here on are not exact as floats.
MOST_EXACT: Final = 1 << 53
_LOW: Final = np.uint64((1 << 32) - 1)


class Counts(NamedTuple):
    """What a Count-Min sketch has.

    Attributes
    ----------
    width, depth : int
    total : int
        The sum of all counts added.
    counters : array
        Row by row.
    """

    width: int
    depth: int
    total: int
    counters: Words


def seed_hash(seed: int) -> int:
    """Return the 16 bits that stand for a seed."""
    out: Words = np.zeros(1, np.uint64)
    # One row of 2**16 counters, with the seed 0: the place is the lower 16 bits of the hash.
    SKETCH.row_ints(np.array([1 << 16, 0], np.uint64), np.array([seed], np.uint64).view(np.int64), out)
    return int(out[0])


def pack(counts: Counts, seed: int) -> bytes:
    """Return a sketch as bytes.

    Raises
    ------
    ValueError
        If a count is too high for a float.
    """
    highest = max(counts.total, int(counts.counters.max()))
    if highest > MOST_EXACT:
        raise ValueError(f"DataSketches counts in floats, exactly up to {MOST_EXACT:,}; this sketch has {highest:,}")
    empty = not counts.counters.any()
    head = _HEAD.pack(2, 1, _FAMILY, _EMPTY if empty else 0, counts.width, counts.depth, seed_hash(seed))
    numbers = np.concatenate([np.array([counts.total], np.uint64), counts.counters])
    return head if empty else head + numbers.astype("<f8").tobytes()


def unpack(data: bytes, seed: int) -> Counts:
    """Return what a sketch in bytes has.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a sketch, or its seed is another one.
    """
    if len(data) < _HEAD.size:
        raise SketchInvalid(f"no Count-Min sketch of DataSketches: it has {len(data)} bytes; give all bytes of one")
    words, version, family, flags, width, depth, hashed = _HEAD.unpack_from(data)
    if (words, version, family) != (2, 1, _FAMILY):
        raise SketchInvalid(
            "these are not the bytes of a Count-Min sketch of DataSketches, of a version that we read (1); "
            "write it with count_min_sketch.serialize"
        )
    if not width or not 1 <= depth <= MOST_FOREIGN:
        raise _damaged(f"it has {depth} rows of {width:,} counters")
    if hashed != seed_hash(seed):
        raise SketchInvalid(f"a Count-Min sketch of DataSketches of another seed than {seed}; give its seed=")
    if flags & _EMPTY:
        if len(data) != _HEAD.size:
            raise _damaged(f"it is empty and has {len(data):,} bytes")
        return Counts(width, depth, 0, np.empty(0, np.uint64))
    if len(data) != _HEAD.size + 8 * (1 + width * depth):
        raise _damaged(f"it has {len(data):,} bytes, not {_HEAD.size + 8 * (1 + width * depth):,}")
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size)
    if not ((numbers >= 0) & (numbers <= MOST_EXACT) & (numbers == np.floor(numbers))).all():
        raise SketchInvalid(
            f"a Count-Min sketch of DataSketches with counts that are not whole numbers from 0 to {MOST_EXACT:,}; "
            "add whole weights only"
        )
    counted = numbers.astype(np.uint64)
    return checked(Counts(width, depth, int(counted[0]), counted[1:]), "DataSketches")


def checked(counts: Counts, where: str) -> Counts:
    """Return counts of which each row has all that was added, and no counter has much more.

    Raises
    ------
    SketchInvalid
        If a row has less, or a counter more.
    """
    if counts.total > MOST_ADDED:
        raise _damaged(f"{counts.total:,} were added, we read up to {MOST_ADDED:,}", where)
    check_counters(counts.counters, counts.total)
    rows = counts.counters.reshape(counts.depth, counts.width)
    halves = zip((rows >> np.uint64(32)).sum(axis=1).tolist(), (rows & _LOW).sum(axis=1).tolist(), strict=True)
    least = min((upper << 32) + lower for upper, lower in halves)
    if least < counts.total:
        raise _damaged(f"a row counts {least:,} of {counts.total:,}", where)
    return counts


def _damaged(why: str, where: str = "DataSketches") -> SketchInvalid:
    return SketchInvalid(f"a damaged Count-Min sketch of {where}: {why}; write it anew")
