"""A sketch as bytes: a head that says what it is, then the cells.

Example: the bytes of a HyperLogLog begin with ``LFSKETCH``, format 1, kind 17, hash 1. A reader of another format or
hash refuses them instead of counting wrongly.

=======  ==============================================================
bytes    content, little-endian
=======  ==============================================================
0-7      ``LFSKETCH``
8-9      format, 1
10-11    kind, see `latchfree.structures`
12-13    hash, see `latchfree.sketches.kernels.hashing`
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
from latchfree.sketches.common.shapes import KINDS, Shape, cells_of
from latchfree.sketches.kernels.hashing import HASH_VERSION
from latchfree.structures import name_of

MAGIC: Final = b"LFSKETCH"
FORMAT: Final = 1

_HEAD: Final = struct.Struct("<8s4H2I")
_FACTS: Final = struct.Struct("<6Q")
_START: Final = _HEAD.size + _FACTS.size


def pack(kind: int, shape: Shape, seed: int, added: int, cells: NDArray[np.uint64]) -> bytes:
    """Return a sketch as bytes."""
    body = _FACTS.pack(seed, *shape, added) + cells.astype("<u8").tobytes()
    return _HEAD.pack(MAGIC, FORMAT, kind, HASH_VERSION, 0, zlib.crc32(body), 0) + body


def _checked(data: Any) -> bytes:
    """Return bytes; raise TypeError for what is none."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes that to_bytes returned, got {type(data).__name__}")
    return bytes(data)


def kind_of(data: Any) -> int:
    """Return the kind of the sketch in bytes; raise as `unpack` does."""
    data = _checked(data)
    if len(data) < _START or not data.startswith(MAGIC):
        raise SketchInvalid(f"no sketch: it has {len(data):,} bytes and does not begin as one")
    _, version, kind, hashing, zero, crc, rest = _HEAD.unpack_from(data)
    if version != FORMAT:
        raise SketchInvalid(f"a sketch of format {version}; this latchfree reads {FORMAT}")
    if hashing != HASH_VERSION:
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
    data = _checked(data)
    kind = kind_of(data)
    if kind != wanted:
        raise SketchInvalid(f"these are the bytes of a {name_of(kind)}, not of a {name_of(wanted)}")
    seed, first, second, third, fourth, added = _FACTS.unpack_from(data, _HEAD.size)
    shape = (first, second, third, fourth)
    try:
        cells = cells_of(kind, shape)
    except ValueError as error:
        raise SketchInvalid(f"a damaged sketch: {error}") from None
    if len(data) % 8 or (len(data) != _START + 8 * cells if sized else len(data) > _START + 8 * cells):
        raise SketchInvalid(f"a damaged sketch: it has {len(data):,} bytes, its shape needs {_START + 8 * cells:,}")
    return shape, seed, added, np.frombuffer(data, "<u8", offset=_START).astype(np.uint64)
