"""The bytes of a `BloomFilter` of Apache Spark, as `writeTo` writes them, in both of its versions.

=======  ======================================================================
bytes    content, the highest byte first
=======  ======================================================================
0-3      version, 1 or 2; Spark makes filters of version 2 since 4.1
4-7      bits of an item
8-11     of version 2 the seed
8 or 12  words of 8 bytes, 4 bytes; then the words, whose lowest bit comes first
=======  ======================================================================

Example: a filter for 10 items with 3 % of false positives has 72 bits, so two words, and 5 bits for an item.
"""

from __future__ import annotations

import math
import struct
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.hashes import SPARK_V1, SPARK_V2
from latchfree.sketches.common.shapes import MOST_FOREIGN

Words: TypeAlias = NDArray[np.uint64]

_NUMBERS: Final = {1: SPARK_V1, 2: SPARK_V2}
_HEADS: Final = {1: struct.Struct(">iii"), 2: struct.Struct(">iiii")}
_WORD: Final = 64


class Bits(NamedTuple):
    """What a filter has.

    Attributes
    ----------
    number : int
        Of the hash.
    each : int
        Bits of an item.
    seed : int
        As a word.
    words : array
    """

    number: int
    each: int
    seed: int
    words: Words


def size_for(items: int, wanted: float) -> tuple[int, int]:
    """Return words, and bits of an item, of the filter that Spark makes for as many items and a rate."""
    bits = max(1, int(-items * math.log(wanted) / math.log(2) ** 2))
    return -(-bits // _WORD), max(1, math.floor(bits / items * math.log(2) + 0.5))


def items_for(words: int, each: int) -> int:
    """Return for how many items a filter was made, about; the bytes do not say it."""
    return max(1, round(words * _WORD * math.log(2) / each))


def rate(words: int, each: int, items: float) -> float:
    """Return the rate of false positives with that many different items."""
    return float(-math.expm1(-each * items / (words * _WORD))) ** each


def items_with(words: int, each: int, ones: int) -> float:
    """Return how many different items a filter has most likely, of whose bits so many are ones; infinity if all are."""
    total = words * _WORD
    return math.inf if ones >= total else -total / each * math.log1p(-ones / total)


def pack(bits: Bits) -> bytes:
    """Return a filter as bytes."""
    words = bits.words.astype(">u8").tobytes()
    if bits.number == SPARK_V1:
        return _HEADS[1].pack(1, bits.each, len(bits.words)) + words
    seed = (bits.seed & (1 << 32) - 1 ^ 1 << 31) - (1 << 31)
    return _HEADS[2].pack(2, bits.each, seed, len(bits.words)) + words


def unpack(data: bytes) -> Bits:
    """Return what a filter in bytes has.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a filter.
    """
    version = struct.unpack_from(">i", data)[0] if len(data) >= 4 else None
    if version not in _HEADS:
        raise SketchInvalid(
            "these are not the bytes of a BloomFilter of Spark, of a version that we read (1, 2); "
            "write it with BloomFilter.writeTo"
        )
    head = _HEADS[version]
    if len(data) < head.size:
        raise _damaged(f"it has {len(data)} bytes")
    _, each, *seeds, count = head.unpack_from(data)
    if not 1 <= each <= MOST_FOREIGN:
        raise _damaged(f"an item has {each:,} bits; we read up to {MOST_FOREIGN}")
    if count < 1 or len(data) != head.size + 8 * count:
        raise _damaged(f"it has {len(data):,} bytes, not {head.size + 8 * max(count, 0):,}")
    words = np.frombuffer(data, ">u8", offset=head.size).astype(np.uint64)
    return Bits(_NUMBERS[version], each, (seeds[0] if seeds else 0) & (1 << 64) - 1, words)


def _damaged(why: str) -> SketchInvalid:
    return SketchInvalid(f"a damaged BloomFilter of Spark: {why}; write it anew")
