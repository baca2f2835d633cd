"""HyperLogLog with the hash of Apache DataSketches: an item becomes a *coupon*, of a register and a rank.

Example: of the 128 bits of an item's hash, the lower 26 of the first half say which register it is, of which a sketch
of 4,096 takes the lower 12. The second half begins with five zeros, so the rank is 6. The coupon has both: the rank
above bit 26, the register below.

Invariant: a register is the greatest rank of an item that was added to it, as in
`latchfree.sketches.kernels.hyperloglog`.

An empty string has no coupon (0), since DataSketches passes over it.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.foreign.murmur128 import hash_of_bytes, hash_of_word
from latchfree.sketches.kernels.hyperloglog import PRECISION, raise_register
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added
from latchfree.words import bits_below

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_64 = np.uint64(64)
#: The bits of a coupon that say which register.
SLOT_BITS = np.uint64(26)
_SLOT = np.uint64((1 << 26) - 1)
#: The highest rank.
MOST_RANK = np.uint64(63)


@kernel
def coupon_of(one: Word, two: Word) -> Word:
    """Return the coupon of a hash of two halves."""
    return min(_64 - bits_below(two) + _1, MOST_RANK) << SLOT_BITS | (one & _SLOT)


@kernel
def hash_ints(given: Array, items: Array, out: Array) -> None:
    """Write the coupons of integers; given is the seed."""
    for k in range(len(items)):
        one, two = hash_of_word(np.uint64(items[k]), given[0])
        out[k] = coupon_of(one, two)


@kernel
def hash_blobs(given: Array, address: Word, ends: Array, out: Array) -> None:
    """Write the coupons of the bytes from each of `ends` to the next; given is the seed."""
    for k in range(len(out)):
        start = np.uint64(ends[k])
        length = np.uint64(ends[k + 1]) - start
        one, two = hash_of_bytes(address + start, length, given[0])
        out[k] = coupon_of(one, two) if length != _0 else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, coupons: Array) -> Word:
    """Add items by their coupons; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    mask = (_1 << peek(mem, record + PRECISION)) - _1
    count = _0
    for k in range(len(coupons)):
        register = coupons[k] & mask
        raise_register(mem, record + FIRST_CELL + (register >> _3), (register & _7) << _3, coupons[k] >> SLOT_BITS)
        count += _1 if coupons[k] != _0 else _0
    note_added(mem, record, count)
    leave(mem, me)
    return _1
