"""The bytes of a `CountMinSketch` of Apache Spark, as `toByteArray`, `df.stat` and SQL's `count_min_sketch` have them.

=======  ======================================================================
bytes    content, the highest byte first
=======  ======================================================================
0-3      version, 1
4-11     sum of all that was added
12-15    rows
16-19    counters of a row
20-      a factor of 8 bytes for each row; then counters of 8 bytes, row by row
=======  ======================================================================

Example: a sketch of 3 rows of 10 counters has 20 + 24 + 240 bytes. The factors are those of a seed, which is found
again by `latchfree.sketches.common.seeds`.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.seeds import factors, seed_of_factors
from latchfree.sketches.common.shapes import MOST_FOREIGN
from latchfree.sketches.foreign.datasketches_counts import Counts, checked

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">iqii")
_MOST_COUNT: Final = (1 << 63) - 1


def pack(counts: Counts, seed: int) -> bytes:
    """Return a sketch as bytes.

    Raises
    ------
    ValueError
        If a count is too high for Spark.
    """
    highest = max(counts.total, int(counts.counters.max()))
    if highest > _MOST_COUNT:
        raise ValueError(f"Spark counts up to {_MOST_COUNT:,}; this sketch has {highest:,}")
    head = _HEAD.pack(_VERSION, counts.total, counts.depth, counts.width)
    return head + np.array(factors(seed, counts.depth), ">i8").tobytes() + counts.counters.astype(">u8").tobytes()


def unpack(data: bytes, seed: int | None) -> tuple[Counts, int]:
    """Return what a sketch in bytes has, and its seed as a word.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a sketch, or its seed is not the one that is given.
    """
    if len(data) < _HEAD.size:
        raise SketchInvalid(f"no CountMinSketch of Spark: it has {len(data)} bytes; give all bytes of one")
    version, total, depth, width = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise SketchInvalid(
            f"these are not the bytes of a CountMinSketch of Spark, of a version that we read ({_VERSION}); "
            "write it with CountMinSketch.toByteArray"
        )
    if not 1 <= depth <= MOST_FOREIGN or width < 1:
        raise _damaged(f"it has {depth:,} rows of {width:,} counters; we read up to {MOST_FOREIGN} rows")
    size = _HEAD.size + 8 * depth * (1 + width)
    if len(data) != size:
        raise _damaged(f"it has {len(data):,} bytes, not {size:,}")
    given = tuple(np.frombuffer(data, ">u8", depth, _HEAD.size).tolist())
    counters = np.frombuffer(data, ">u8", offset=_HEAD.size + 8 * depth).astype(np.uint64)
    if total < 0 or int(counters.max()) > _MOST_COUNT:
        raise _damaged("it has counts below 0")
    if seed is not None and factors(seed, depth) != given:
        raise SketchInvalid("a CountMinSketch of Spark of another seed than the one that is given; leave out seed=")
    found = seed if seed is not None else seed_of_factors(given) if max(given) < 1 << 31 else None
    if found is None:
        raise _damaged("the factors of its rows are those of no seed")
    return checked(Counts(width, depth, total, counters), "Spark"), found


def _damaged(why: str) -> SketchInvalid:
    return SketchInvalid(f"a damaged CountMinSketch of Spark: {why}; write it anew")
