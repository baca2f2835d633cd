"""Read Count-Min sketches as Spark writes them: upper bounds of how often an item was seen.

Each of `depth` rows counts items by a hash of its own. Every item counts in one cell of each row, possibly together
with other items, so the smallest cell of an item is never below the item's count. The excess is over `relative_error`
of all items with a probability of 1 - `confidence`.

Source: Cormode, Muthukrishnan, An improved data stream summary: the count-min sketch (2005); the layout and the hashes
are those of org.apache.spark.util.sketch, version 1 (all numbers big-endian).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEAD: Final = struct.Struct(">iqii")
_VERSION: Final = 1
_INT: Final = 0xFFFFFFFF
_LONG: Final = 0xFFFFFFFFFFFFFFFF
_PRIME: Final = (1 << 31) - 1


@dataclass(frozen=True)
class CountMin:
    """A Count-Min sketch.

    Parameters
    ----------
    total : int
        Items seen.
    factors : array of int64
        Of the hash of integers, for each row.
    table : array of int64, of shape (depth, width)
    """

    total: int
    factors: NDArray[np.int64]
    table: NDArray[np.int64]

    @classmethod
    def of(cls, data: bytes) -> CountMin:
        """Read what ``count_min_sketch`` of Spark returns.

        Raises
        ------
        ValueError
            If it is no such sketch, of another version, or truncated.
        """
        if len(data) < _HEAD.size:
            raise ValueError(f"{len(data)} bytes are no Count-Min sketch")
        version, total, depth, width = _HEAD.unpack_from(data)
        if version != _VERSION or depth <= 0 or width <= 0:
            raise ValueError(f"no Count-Min sketch of version {_VERSION}: it starts with {data[: _HEAD.size].hex()}")
        if len(data) != _HEAD.size + 8 * depth * (width + 1):
            raise ValueError(f"a Count-Min sketch of {depth} x {width} cells does not have {len(data):,} bytes")
        numbers = np.frombuffer(data, ">i8", offset=_HEAD.size).astype(np.int64)
        return cls(total, numbers[:depth], numbers[depth:].reshape(depth, width))

    def __bytes__(self) -> bytes:
        depth, width = self.table.shape
        cells = np.concatenate([self.factors, self.table.ravel()]).astype(">i8")
        return _HEAD.pack(_VERSION, self.total, depth, width) + cells.tobytes()

    @property
    def relative_error(self) -> float:
        """The largest excess of an estimate, as a share of all items, with probability `confidence`."""
        return 2.0 / int(self.table.shape[1])

    @property
    def confidence(self) -> float:
        """The probability that the bound holds for an item."""
        return 1.0 - float(0.5 ** len(self.factors))

    def estimate(self, item: str | bytes | int) -> int:
        """Return how often an item was seen, at most."""
        rows = range(len(self.factors))
        cells = self._cells_of_int(item) if isinstance(item, int) else self._cells_of_bytes(item)
        return int(min(self.table[row, cell] for row, cell in zip(rows, cells, strict=True)))

    def merge(self, other: CountMin) -> CountMin:
        """Return the sketch of the items of both.

        Raises
        ------
        ValueError
            If their sizes or seeds differ.
        """
        if self.table.shape != other.table.shape or not np.array_equal(self.factors, other.factors):
            raise ValueError("Count-Min sketches can be merged only if error, confidence and seed are the same")
        return CountMin(self.total + other.total, self.factors, self.table + other.table)

    def _cells_of_int(self, item: int) -> list[int]:
        cells = []
        for factor in self.factors.tolist():
            h = _signed(factor * item & _LONG, 64)
            cells.append((h + (h >> 32) & _PRIME) % self.table.shape[1])
        return cells

    def _cells_of_bytes(self, item: str | bytes) -> list[int]:
        data = item.encode() if isinstance(item, str) else item
        one = murmur3(data, 0)
        other = murmur3(data, one)
        depth, width = self.table.shape
        return [abs(_signed(one + row * other & _INT, 32)) % width for row in range(depth)]


def murmur3(data: bytes, seed: int) -> int:
    """Return Spark's 32-bit Murmur3 of bytes: those that fill no word are mixed in one by one, sign-extended."""
    h = seed
    whole = len(data) // 4 * 4
    words = struct.unpack(f"<{whole // 4}I", data[:whole]) + struct.unpack(f"{len(data) - whole}b", data[whole:])
    for word in words:
        k = (word & _INT) * 0xCC9E2D51 & _INT
        k = (k << 15 | k >> 17) * 0x1B873593 & _INT
        h ^= k
        h = ((h << 13 | h >> 19) & _INT) * 5 + 0xE6546B64 & _INT
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & _INT
    h = (h ^ h >> 13) * 0xC2B2AE35 & _INT
    return h ^ h >> 16


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> bits - 1 else number
