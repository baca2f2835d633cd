"""The record of a sketch: what its words mean, and who may touch them.

Example: a Bloom filter at word 240,000 of an arena has its random number there, its kind and shape in the words behind,
and its bits from word 240,024 on.

Invariant: cells are touched by who has found the sketch's number since being pinned, and freed two epochs after the
number was taken away. A number is random and never used again. A sketch in private memory is its owner's: nobody is
pinned.
"""

import numpy as np

from latchfree.arena.kernels.epochs import pin, try_advance, unpin
from latchfree.arena.kernels.freelists import give, take
from latchfree.arena.layout import H_EPOCH
from latchfree.atomics import exchange, fetch_add, load, load_seq, peek, poke
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word

_0 = np.uint64(0)
_GRACE = np.uint64(2)
_ALIGN = np.uint64(7)

# The words of a record; those that calls change are on a cache line of their own.
NUMBER = np.uint64(0)  # random; 0: unlinked, or not made yet
START = np.uint64(1)  # offset of the memory that the record is in
SIZE = np.uint64(2)  # words of that memory
KIND = np.uint64(3)  # see latchfree.structures
VERSION = np.uint64(4)  # of what the words mean
SEED = np.uint64(5)  # of the hash
CELLS = np.uint64(6)  # number of words of cells
SHAPE = np.uint64(8)  # four words, which depend on the kind
ADDED = np.uint64(16)  # items added by calls that have ended
ANNOUNCED = np.uint64(17)  # see latchfree.sketches.kernels.conservative
TICKET = np.uint64(18)  # see latchfree.sketches.kernels.stable
FIRST_CELL = np.uint64(24)

#: What a call returns that finds no sketch of its number.
GONE = np.uint64((1 << 64) - 1)


@entry
def create(mem: Handle, me: Word, size: Word) -> Word:
    """Return the offset of a record in `size` words (a size of the arena's), all 0 but START and SIZE; NIL: no room."""
    start = take(mem, me, size, _0)
    if start == _0:
        return _0
    for k in range(size):
        poke(mem, start + np.uint64(k), _0)
    record = (start + _ALIGN) & ~_ALIGN
    poke(mem, record + START, start)
    poke(mem, record + SIZE, size)
    return record


@entry
def free(mem: Handle, me: Word, record: Word) -> None:
    """Free a sketch that nobody can be using."""
    give(mem, me, peek(mem, record + START), peek(mem, record + SIZE))


@entry
def end(mem: Handle, record: Word) -> Word:
    """Refuse calls from now on; return the epoch until which others may be in one."""
    # spec: none -- seq_cst: whoever still finds the number has pinned before, in an epoch that is read here at latest.
    exchange(mem, record + NUMBER, _0)
    # spec: none -- read after the exchange, as `Reclamation!RetireReadEpoch` is after the unlinking.
    return load_seq(mem, H_EPOCH)


@entry
def is_quiet(mem: Handle, ended: Word) -> Flag:
    """Return whether nobody can be in a call of a sketch that was ended in epoch `ended`."""
    try_advance(mem)
    # spec: none -- acquire is enough: an old epoch only makes it wait longer.
    return load(mem, H_EPOCH) >= ended + _GRACE


@kernel
def enter(mem: Handle, me: Word, record: Word, number: Word) -> Flag:
    """Return whether a sketch is there; then it stays until `leave`. `me` is 0 for one in private memory."""
    if me != _0:
        pin(mem, me)
    # spec: none -- seq_cst: after the pin, see `end`.
    if load_seq(mem, record + NUMBER) == number:
        return True
    leave(mem, me)
    return False


@kernel
def leave(mem: Handle, me: Word) -> None:
    """End what `enter` began."""
    if me != _0:
        unpin(mem, me)


@kernel
def note_added(mem: Handle, record: Word, count: Word) -> None:
    """Count items that were added."""
    # spec: none -- seq_cst (relaxed suffices): a sum, which nothing is read through.
    fetch_add(mem, record + ADDED, count)


@entry
def added(mem: Handle, me: Word, record: Word, number: Word) -> Word:
    """Return how many items were added; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- acquire: the items that are counted are in the cells.
    count = load(mem, record + ADDED)
    leave(mem, me)
    return count


@kernel
def copy(mem: Handle, me: Word, record: Word, number: Word, out: Array) -> Word:
    """Copy the cells, one after the other, each at an instant of its own; return ADDED as read before, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- acquire: all that is counted is in the cells that are read next.
    count = load(mem, record + ADDED)
    for k in range(len(out)):
        # spec: none -- acquire: what this thread has seen added before is in the copy.
        out[k] = load(mem, record + FIRST_CELL + np.uint64(k))
    leave(mem, me)
    return count
