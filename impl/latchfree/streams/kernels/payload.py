"""Payloads: values of a ring that are offsets of blocks of bytes in the arena.

Example: a string of 11 bytes is put: a block of 3 words is taken from the arena, the length and the bytes are written
into it, and its offset is the value that the ring holds. Whoever gets that value owns the block, and frees it.

Invariant: a block belongs to who has taken it until its offset is put, then to the ring, then to who got the offset;
and with a ring that is freed, the blocks are freed that are still in it. A process that is killed while a block is its
own leaks the block: a repair of the arena frees that. Specified in `spec/Messages.tla`.

The blocks of a call are in an array of the call, with 0 where there is none. Each call here that changes whose a block
is writes that down there, so a signal handler that raises before the caller sees what was returned loses nothing.
"""

import numpy as np

from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.atomics import load, peek, poke
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
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
def take_block(mem: Handle, me: Word, size: Word, own: Array) -> Flag:
    """Take a block for so many bytes into `own[0]`, with its length; return whether the arena had room."""
    block = take(mem, me, words_for(size), _0)
    if block == _0:
        return False
    poke(mem, block, size)
    own[0] = block
    return True


@kernel
def free_block(mem: Handle, me: Word, block: Word) -> None:
    """Free a block that nobody else has."""
    give(mem, me, block, words_for(peek(mem, block)))


@entry
def free_blocks(mem: Handle, me: Word, own: Array) -> None:
    """Free the blocks in `own`, and write 0 in their place."""
    for k in range(len(own)):
        block, own[k] = np.uint64(own[k]), 0
        if block != _0:
            free_block(mem, me, block)


@kernel
def free_left(mem: Handle, me: Word, ring: Word) -> None:
    """Free the blocks that are still in a ring, which nobody can be using."""
    if peek(mem, ring + PAYLOAD) == _0:
        return
    mask = peek(mem, ring + MASK)
    # spec: Messages!FreeLeft -- acquire; nobody puts or gets any more.
    position = load(mem, ring + DEQ)
    # spec: Messages!FreeLeft -- acquire, as above.
    end = end_of(load(mem, ring + ENQ), position)
    while position != end:
        cell = cell_of(peek(mem, ring + CELLS), position, mask)
        # spec: Messages!FreeLeft -- acquire: a cell whose put or get died has another turn (mutant Q15).
        if load(mem, cell + TURN) == turn_to_get(position):
            # spec: Messages!FreeLeft -- acquire, as above.
            free_block(mem, me, load(mem, cell + VALUE))
        position += _1
