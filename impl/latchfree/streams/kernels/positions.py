"""Positions of a ring buffer: which cell, whose turn, full or empty; pure arithmetic on 64-bit words.

Example: in a ring of 4 cells position 6 is in cell 2. A put may write there while the turn of the cell is 6, a get may
read while the turn is 7, and the next put, at position 10, when the turn is 10.

Positions count up modulo 2**64. The number of cells is a power of two, so a position's cell is its low bits, also where
the count wraps around; and it is at least two, so that the three turns of a cell differ (see `turn_to_get`).
Positions in use at one time are less than 2**63 apart, so which comes first is the sign of their difference.

Each function is proved for all words: ``latchfree prove ring-cells ring-turns ring-behind ring-full ring-empty``.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word

_1 = np.uint64(1)
_SIGN = np.uint64(63)

#: What separates the turn of a hole from its position: the turn is far behind, so nobody takes it for theirs.
FAR = np.uint64(1 << 62)
#: How many positions are claimed at once to shut a ring down: far more than it has cells, see `is_shut`.
JUMP = np.uint64(1 << 61)
_JUMP_SHIFT = np.uint64(61)

#: Words of a cell: its turn and its value.
CELL_SHIFT = np.uint64(1)


@kernel
def cell_of(cells: Word, position: Word, mask: Word) -> Word:
    """Return the offset of a position's cell; `cells` is the first cell's, `mask` the number of cells minus one."""
    return cells + ((position & mask) << CELL_SHIFT)


@kernel
def turn_to_get(position: Word) -> Word:
    """Return the turn of a cell whose value may be taken at a position; the turn to put is the position itself."""
    return position + _1


@kernel
def turn_to_put_again(position: Word, mask: Word) -> Word:
    """Return the turn of a cell that was emptied at a position: the next position in the same cell."""
    return position + mask + _1


@kernel
def is_behind(turn: Word, wanted: Word) -> Flag:
    """Return whether a turn has yet to reach the one wanted."""
    return (turn - wanted) >> _SIGN == _1


@kernel
def is_full(position: Word, taken: Word, mask: Word) -> Flag:
    """Return whether the next position to get from, `taken`, is one round behind the position to put at.

    The test is for equality: if `position` is out of date by now, `taken` may have passed it.
    """
    return position - taken == mask + _1


@kernel
def is_empty(position: Word, filled: Word) -> Flag:
    """Return whether the next position to put at, `filled`, is the position to get from."""
    return filled == position


@kernel
def length(filled: Word, taken: Word) -> Word:
    """Return how many values there are between the next positions to put at and to get from."""
    return filled - taken


@kernel
def turn_of_hole(position: Word) -> Word:
    """Return the turn of a cell at whose position nobody will ever put: who claimed it is dead."""
    return position - FAR


@kernel
def is_shut(filled: Word, taken: Word) -> Flag:
    """Return whether the next position to put at, `filled`, is behind the end of a ring that was shut down.

    The next positions of an open ring are less than 2**60 apart, whichever of the two is out of date.
    """
    return (filled - taken) >> _JUMP_SHIFT == _1


@kernel
def end_of(filled: Word, taken: Word) -> Word:
    """Return the position behind the last one that a put has claimed."""
    return filled - JUMP if is_shut(filled, taken) else filled
