"""Payloads: values of a ring that are offsets of blocks of bytes in the arena.

Example: a string of 11 bytes is put: a block of 3 words is taken from the arena, the length and the bytes are written
into it, and its offset is the value that the ring holds. Whoever gets that value owns the block, and frees it.

Invariant: a block belongs to who has taken it until its offset is put, then to the ring, then to who got the offset;
and with a ring that is freed, the blocks are freed that are still in it. A process that is killed while a block is its
own leaks the block: a repair of the arena frees that.
"""

import numpy as np

from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.atomics import load, peek
from latchfree.jit import entry, kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.layout import CELLS, DEQ, ENQ, MASK, PAYLOAD, TURN, VALUE
from latchfree.streams.kernels.positions import cell_of, end_of, turn_to_get

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)


@kernel
def words_for(size: Word) -> Word:
    """Return the words of a block for so many bytes: the length, and the bytes."""
    return round_up(_1 + ((size + _7) >> _3))


@entry
def take_block(mem: Handle, me: Word, size: Word) -> Word:
    """Return the offset of a block for so many bytes, the length not written yet; 0 if the arena has no room."""
    return take(mem, me, words_for(size), _0)


@entry
def free_block(mem: Handle, me: Word, block: Word) -> None:
    """Free a block that nobody else has."""
    give(mem, me, block, words_for(peek(mem, block)))


@kernel
def free_left(mem: Handle, me: Word, ring: Word) -> None:
    """Free the blocks that are still in a ring, which nobody can be using."""
    if peek(mem, ring + PAYLOAD) == _0:
        return
    mask = peek(mem, ring + MASK)
    # spec: none -- acquire; nobody puts or gets any more.
    position = load(mem, ring + DEQ)
    # spec: none -- acquire, as above.
    end = end_of(load(mem, ring + ENQ), position)
    while position != end:
        cell = cell_of(peek(mem, ring + CELLS), position, mask)
        # spec: none -- acquire: a cell whose put or get died has another turn.
        if load(mem, cell + TURN) == turn_to_get(position):
            # spec: none -- acquire, as above.
            free_block(mem, me, load(mem, cell + VALUE))
        position += _1
