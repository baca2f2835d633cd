"""One buffer for all arrays of an index: it is saved, mapped into memory and sent as it is.

bytes 0-7     ``LFTOPICS``
bytes 8-11    version of the layout
bytes 12-15   bytes of the description, JSON
bytes 16-23   bytes of the whole
bytes 24-27   CRC-32 of everything after byte 32
from 32       the description: plain values, and for each array its type, place and length
then          the arrays, each at a multiple of 64
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.errors import IndexInvalid

MAGIC: Final = b"LFTOPICS"
VERSION: Final = 3
_HEAD: Final = struct.Struct("<8sIIQI4x")
_ALIGN: Final = 64
#: Of the elements of arrays.
_TYPES: Final = ("|u1", "|i1", "<u4", "<i8", "<u8")


def pack(plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return a buffer with plain values (as JSON has) and arrays."""
    places: list[tuple[str, str, int, int]] = []
    at = 0
    for name, array in arrays.items():
        places.append((name, array.dtype.str, at, len(array)))
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    description = json.dumps({**plain, "arrays": places}, separators=(",", ":")).encode()
    start = -(-(_HEAD.size + len(description)) // _ALIGN) * _ALIGN
    buffer = np.zeros(start + at, np.uint8)
    buffer[_HEAD.size : _HEAD.size + len(description)] = np.frombuffer(description, np.uint8)
    for (_, _, place, _), array in zip(places, arrays.values(), strict=True):
        buffer[start + place : start + place + array.nbytes] = np.ascontiguousarray(array).view(np.uint8)
    head = _HEAD.pack(MAGIC, VERSION, len(description), len(buffer), zlib.crc32(buffer[_HEAD.size :].data))
    buffer[: _HEAD.size] = np.frombuffer(head, np.uint8)
    return buffer


def unpack(
    buffer: NDArray[np.uint8], source: str, *, check: bool = True
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the plain values and the arrays of a buffer, the arrays as views of it.

    Raises
    ------
    IndexInvalid
        If the buffer is no index, of another version, truncated, or (with `check`) damaged.
    """
    if len(buffer) < _HEAD.size or bytes(buffer[:8]) != MAGIC:
        raise IndexInvalid(f"{source} is no topic index: it does not start with {MAGIC.decode()}")
    _, version, described, total, checksum = _HEAD.unpack(bytes(buffer[: _HEAD.size]))
    if version != VERSION:
        raise IndexInvalid(
            f"{source} has layout version {version}, and this program knows {VERSION}; freeze and save the index again"
        )
    if len(buffer) != total:
        raise IndexInvalid(f"{source} has {len(buffer):,} bytes of {total:,}: it is truncated or was added to")
    if check and zlib.crc32(buffer[_HEAD.size :].data) != checksum:
        raise IndexInvalid(f"{source} is damaged: its checksum does not fit; freeze and save the index again")
    try:
        plain = json.loads(bytes(buffer[_HEAD.size : _HEAD.size + described]))
        start = -(-(_HEAD.size + described) // _ALIGN) * _ALIGN
        return plain, {name: _array(buffer[start:], *where) for name, *where in plain.pop("arrays")}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise IndexInvalid(
            f"{source} is damaged: nothing can be made of its description ({error}); freeze and save the index again"
        ) from None


def _array(buffer: NDArray[np.uint8], kind: str, place: int, length: int) -> NDArray[Any]:
    """Return a view of an array.

    Raises
    ------
    ValueError
        If there is none at that place.
    """
    if kind not in _TYPES or place % _ALIGN or not 0 <= place <= place + length * int(kind[-1]) <= len(buffer):
        raise ValueError(f"{length} elements of type {kind} at byte {place}")
    return buffer[place : place + length * int(kind[-1])].view(kind)
