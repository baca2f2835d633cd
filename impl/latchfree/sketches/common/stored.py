"""A sketch as bytes: a head that says what it is, then the cells.

Example: the bytes of a HyperLogLog begin with ``LFSKETCH``, format 1, kind 17, hash 1. A reader of another format or
hash refuses them instead of counting wrongly.

=======  ==============================================================
bytes    content, little-endian
=======  ==============================================================
0-7      ``LFSKETCH``
8-9      format, 1
10-11    kind, see `latchfree.structures`
12-13    hash, see `latchfree.sketches.kernels.hashing`; or of another library,
         see `latchfree.sketches.common.hashes`
14-15    0
16-19    CRC-32 of everything from byte 24 on
20-23    0
24-31    seed
32-63    shape, four words
64-71    items added
72-      cells, a word each
=======  ==============================================================
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.hashes import DATASKETCHES, SPARK, SPARK_V1, SPARK_V2, check_seed, number_in
from latchfree.sketches.common.shapes import KINDS, Shape, cells_of, counters_of
from latchfree.sketches.kernels.hashing import HASH_VERSION
from latchfree.structures import name_of

MAGIC: Final = b"LFSKETCH"
FORMAT: Final = 1

#: Items added, or the sum of their counts, of a sketch that is read or merged: so much again leaves a counter positive.
MOST_ADDED: Final = 1 << 62
#: By how much a counter may be above the sum that was read before it: by what calls were adding meanwhile.
MOST_AHEAD: Final = 1 << 56

_HEAD: Final = struct.Struct("<8s4H2I")
_FACTS: Final = struct.Struct("<6Q")
_START: Final = _HEAD.size + _FACTS.size
_KNOWN: Final = (HASH_VERSION, DATASKETCHES, SPARK, SPARK_V1, SPARK_V2)


def pack(kind: int, shape: Shape, seed: int, added: int, cells: NDArray[np.uint64]) -> bytes:
    """Return a sketch as bytes."""
    body = _FACTS.pack(seed, *shape, added) + cells.astype("<u8").tobytes()
    hashing = number_in(kind, shape) or HASH_VERSION
    return _HEAD.pack(MAGIC, FORMAT, kind, hashing, 0, zlib.crc32(body), 0) + body


def bytes_of(data: Any, caller: str = "from_bytes") -> bytes:
    """Return bytes; raise TypeError for what is none, which names the caller."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes for {caller}, got {type(data).__name__}")
    return bytes(data)


def kind_of(data: Any) -> int:
    """Return the kind of the sketch in bytes; raise as `unpack` does."""
    data = bytes_of(data)
    if len(data) < _START or not data.startswith(MAGIC):
        raise SketchInvalid(f"no sketch: it has {len(data):,} bytes and does not begin as one")
    _, version, kind, hashing, zero, crc, rest = _HEAD.unpack_from(data)
    if version != FORMAT:
        raise SketchInvalid(f"a sketch of format {version}; this latchfree reads {FORMAT}")
    if hashing not in _KNOWN:
        raise SketchInvalid(f"a sketch of hash {hashing}; this latchfree hashes items by {HASH_VERSION}")
    if zero or rest or crc != zlib.crc32(memoryview(data)[_HEAD.size :]):
        raise SketchInvalid("a damaged sketch: its checksum does not fit")
    if kind not in KINDS:
        raise SketchInvalid(f"a sketch of kind {kind}, which this latchfree does not know")
    return int(kind)


def unpack(wanted: int, data: Any, *, sized: bool = True) -> tuple[Shape, int, int, NDArray[np.uint64]]:
    """Return shape, seed, items added and cells of a sketch in bytes; not `sized`: there may be fewer cells.

    Raises
    ------
    TypeError
        If `data` is not bytes.
    SketchInvalid
        If they are none of a sketch of that kind.
    """
    data = bytes_of(data)
    kind = kind_of(data)
    if kind != wanted:
        raise SketchInvalid(f"these are the bytes of a {name_of(kind)}, not of a {name_of(wanted)}")
    seed, first, second, third, fourth, added = _FACTS.unpack_from(data, _HEAD.size)
    shape = (first, second, third, fourth)
    try:
        cells = cells_of(kind, shape)
        if _HEAD.unpack_from(data)[3] != (number_in(kind, shape) or HASH_VERSION):
            raise ValueError("its head and its shape name different hashes")
        check_seed(kind, shape, seed)
        if added > MOST_ADDED:
            raise ValueError(f"it says that {added:,} items were added, the most is {MOST_ADDED:,}")
    except ValueError as error:
        raise SketchInvalid(f"a damaged sketch: {error}") from None
    if len(data) % 8 or (len(data) != _START + 8 * cells if sized else len(data) > _START + 8 * cells):
        raise SketchInvalid(f"a damaged sketch: it has {len(data):,} bytes, its shape needs {_START + 8 * cells:,}")
    found = np.frombuffer(data, "<u8", offset=_START).astype(np.uint64)
    check_counters(found[: counters_of(kind, shape)], added)
    return shape, seed, added, found


def check_counters(counters: NDArray[np.uint64], added: int) -> None:
    """Make sure that no counter is far above the sum of all that was added; raise SketchInvalid if one is."""
    highest = int(counters.max()) if len(counters) else 0
    if highest > added + MOST_AHEAD:
        raise SketchInvalid(f"a damaged sketch: a counter holds {highest:,}, and {added:,} were added")
