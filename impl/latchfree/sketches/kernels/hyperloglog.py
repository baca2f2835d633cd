"""HyperLogLog: registers of a byte, eight in a word, that only rise.

Example: with 16 registers, the item of hash ``0b1010_0000_0101`` belongs to register 5, the lower four bits. The bits
above end with five zeros, so its rank is 6, and the register is raised to 6 if it is lower.

Invariant: a register is the greatest rank of an item that was added to it.

One register changes by one compare-and-swap of its word, which fails only if another register of the word, or this one,
has risen: so somebody always gets on. Most items change nothing: their register is read and is higher.
"""

import numpy as np

from latchfree.atomics import cas, load, peek, trailing_zeros
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.record import CELLS, FIRST_CELL, GONE, SHAPE, enter, leave, note_added

_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_8 = np.uint64(8)
_64 = np.uint64(64)
_BYTE = np.uint64(255)

#: The shape: the number of bits of a hash that choose the register.
PRECISION = SHAPE


@kernel
def rank_of(h: Word, precision: Word) -> Word:
    """Return one more than the number of zeros at the end of a hash without its lowest bits; at most 65 - precision."""
    return trailing_zeros((h >> precision) | (_1 << (_64 - precision))) + _1


@kernel
def raise_register(mem: Handle, at: Word, shift: Word, rank: Word) -> None:
    """Raise the register at a bit of a word to a rank, unless it is as high."""
    while True:
        # spec: HyperLogLog!Load -- acquire: registers never fall, so one that is high enough stays so.
        word = load(mem, at)
        held = (word >> shift) & _BYTE
        if held >= rank:
            return
        # spec: HyperLogLog!Raise -- seq_cst: fails if any register of the word has changed, else it would fall (X19).
        if cas(mem, at, word, word + ((rank - held) << shift)):
            return


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Raise the register of a hash to the hash's rank."""
    precision = peek(mem, record + PRECISION)
    register = h & ((_1 << precision) - _1)
    raise_register(mem, record + FIRST_CELL + (register >> _3), (register & _7) << _3, rank_of(h, precision))


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    add(mem, record, h)
    note_added(mem, record, _1)
    leave(mem, me)
    return _1


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        add(mem, record, hashes[k])
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def count_ranks(mem: Handle, me: Word, record: Word, number: Word, counts: Array) -> Word:
    """Count the registers of each height; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(peek(mem, record + CELLS)):
        # spec: HyperLogLog!ReadWord -- acquire: sees the ranks of every add that has returned before.
        word = load(mem, record + FIRST_CELL + np.uint64(k))
        for _ in range(8):
            counts[word & _BYTE] += 1
            word >>= _8
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Raise all registers to those of another sketch of the same precision; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(theirs)):
        for byte in range(8):
            shift = np.uint64(byte) << _3
            raise_register(mem, record + FIRST_CELL + np.uint64(k), shift, (theirs[k] >> shift) & _BYTE)
    note_added(mem, record, count)
    leave(mem, me)
    return _1
