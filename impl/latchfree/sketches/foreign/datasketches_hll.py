"""The bytes of a HyperLogLog as Apache DataSketches writes them, of all three kinds; we write `HLL_8`.

Example: ``hll_sketch.deserialize(visitors.to_datasketches())`` in Python, C++ or Java answers as ours does, and merges
with others of DataSketches.

=======  ======================================================================
bytes    content, little-endian
=======  ======================================================================
0        words of 4 bytes before the items: 2 a list, 3 a set, 10 registers
1        version, 1
2        family, 7
3        precision: there are 2**precision registers
4        of a table that is not compact: 2**this entries
5        flags: 4 empty, 8 compact, 16 merged
6        of a list its length; of registers of 4 bits the least of all
7        lowest two bits: 0 list, 1 set, 2 registers; next two: 0 for 4 bits,
         1 for 6 bits, 2 for 8 bits
8-       of a list its coupons; of a set how many, and from 12 its coupons
8-31     of registers three floats: an estimate, and the sum of 2**-register in
         two parts, of those below 32 and the others
32-39    how many registers are at the least; how many exceptions
40-      registers; of those of 4 bits 15 says that the register is an exception
         and follows, as a coupon
=======  ======================================================================

A coupon has a rank in its upper 6 bits, and a register in the lower 26.
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latchfree.sketches.common.errors import SketchInvalid
from latchfree.sketches.common.shapes import LEAST_PRECISION, MOST_PRECISION
from latchfree.sketches.kernels.foreign import coupons as c

Registers: TypeAlias = NDArray[np.uint8]

_FAMILY: Final = 7
_EMPTY, _COMPACT, _MERGED = 4, 8, 16
_LIST, _SET, _REGISTERS = 0, 1, 2
#: Words of 4 bytes before the items, by the mode.
_WORDS: Final = (2, 3, 10)
_HEAD: Final = struct.Struct("<8B")
_SUMS: Final = struct.Struct("<3d2I")
_START: Final = _HEAD.size + _SUMS.size
_MOST_RANK: Final = int(c.MOST_RANK)
_SLOT_BITS: Final = int(c.SLOT_BITS)
_EXCEPTION: Final = 15


def pack(registers: Registers, precision: int, estimate: float) -> bytes:
    """Return registers as bytes."""
    if not registers.any():
        return _HEAD.pack(_WORDS[_LIST], 1, _FAMILY, precision, 3, _EMPTY | _COMPACT, 0, _LIST | 2 << 2)
    terms = np.ldexp(1.0, -registers.astype(np.int64))
    low = registers < 32
    sums = float(terms[low].sum()), float(terms[~low].sum())
    head = _HEAD.pack(_WORDS[_REGISTERS], 1, _FAMILY, precision, 0, _COMPACT | _MERGED, 0, _REGISTERS | 2 << 2)
    return head + _SUMS.pack(estimate, *sums, int((registers == 0).sum()), 0) + registers.tobytes()


def unpack(data: bytes) -> tuple[int, Registers]:
    """Return the precision and the registers of a sketch in bytes.

    Raises
    ------
    SketchInvalid
        If these are not the bytes of such a sketch.
    """
    if len(data) < _HEAD.size:
        raise SketchInvalid(f"no HLL sketch of DataSketches: it has {len(data)} bytes; give all bytes of one")
    words, version, family, precision, log, flags, number, modes = _HEAD.unpack_from(data)
    mode, width, size = modes & 3, modes >> 2 & 3, None if flags & _COMPACT else log
    if family != _FAMILY or version != 1 or mode > _REGISTERS or width > 2 or words != _WORDS[mode]:
        raise SketchInvalid(
            "these are not the bytes of an HLL sketch of DataSketches, of a version that we read (1); "
            "write it with hll_sketch.serialize_compact"
        )
    if not LEAST_PRECISION <= precision <= MOST_PRECISION:
        raise _damaged(f"it has 2**{precision} registers; we read {LEAST_PRECISION} to {MOST_PRECISION}")
    if mode == _REGISTERS:
        registers = _registers_of(data, precision, width, number, size)
        if int(registers.max()) > _MOST_RANK:
            raise _damaged(f"a register holds {int(registers.max())}, the most is {_MOST_RANK}")
        return precision, registers
    registers = np.zeros(1 << precision, np.uint8)
    if flags & _EMPTY:
        return precision, registers
    start = _HEAD.size
    if mode == _SET:
        if len(data) < start + 4:
            raise _damaged("it is cut short")
        (number,) = struct.unpack_from("<I", data, start)
        start += 4
    _raise(registers, _coupons(data, start, number, size))
    return precision, registers


def _damaged(why: str) -> SketchInvalid:
    return SketchInvalid(f"a damaged HLL sketch of DataSketches: {why}; write it anew")


def _coupons(data: bytes, start: int, count: int, size: int | None) -> NDArray[np.int64]:
    """Return the coupons with which the bytes end: with a size, of a table, whose other entries are 0.

    The table has 2**size entries. DataSketches for C++ leaves the size of a table of exceptions 0.
    """
    entries = (len(data) - start) // 4
    wanted = count if size is None or not entries else 1 << size if 0 < size < 32 else 1 << (entries.bit_length() - 1)
    if len(data) != start + 4 * entries or entries != wanted or entries < count:
        raise _damaged(f"it has {len(data):,} bytes; {count} coupons after byte {start} need other room")
    found: NDArray[np.int64] = np.frombuffer(data, "<u4", offset=start).astype(np.int64)
    found = found[found != 0]
    if len(found) != count:
        raise _damaged(f"it has {len(found)} coupons, not {count}")
    return found


def _raise(registers: Registers, coupons: NDArray[np.int64]) -> None:
    """Raise registers to the ranks of coupons."""
    ranks = coupons >> _SLOT_BITS
    if len(ranks) and int(ranks.min()) == 0:
        raise _damaged("a coupon has no rank")
    slots = coupons & ((1 << _SLOT_BITS) - 1) & (len(registers) - 1)
    np.maximum.at(registers, slots, ranks.astype(np.uint8))


def _registers_of(data: bytes, precision: int, width: int, least: int, size: int | None) -> Registers:
    """Return the registers of 4, 6 or 8 bits."""
    count = 1 << precision
    length = (count // 2, count * 3 // 4 + 1, count)[width]
    if len(data) < _START + length:
        raise _damaged(f"it has {len(data):,} bytes, its registers alone need {_START + length:,}")
    *_, exceptions = _SUMS.unpack_from(data, _HEAD.size)
    packed = np.frombuffer(data, np.uint8, length, _START)
    rest = _START + length
    if width == 0:
        nibbles = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)
        registers = (nibbles + np.uint8(min(least, _MOST_RANK))).astype(np.uint8)
        return _with_exceptions(registers, nibbles == _EXCEPTION, _coupons(data, rest, exceptions, size))
    if len(data) != rest or exceptions:
        raise _damaged(f"it has {len(data):,} bytes, not {rest:,}")
    if width == 2:
        return packed.copy()
    bits = np.unpackbits(packed, bitorder="little")[: 6 * count].reshape(count, 6)
    return np.packbits(bits, axis=1, bitorder="little").reshape(count)


def _with_exceptions(registers: Registers, wanted: NDArray[np.bool_], coupons: NDArray[np.int64]) -> Registers:
    """Return registers with those that 4 bits do not hold."""
    slots = coupons & ((1 << _SLOT_BITS) - 1)
    known = len(slots) == int(wanted.sum()) and bool((slots < len(registers)).all())
    if not known or not np.array_equal(np.unique(slots), np.flatnonzero(wanted)):
        raise _damaged("its exceptions are not those that its registers name")
    registers[slots] = (coupons >> _SLOT_BITS).astype(np.uint8)
    return registers
