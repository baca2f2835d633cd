"""Shapes: the numbers that say how large a sketch is and where its items go, and how many words of cells they need.

Example: a Bloom filter of 40,000 blocks of 4 words, 2 bits of each word, has 160,000 words of cells. Two sketches can
be merged if their shapes and seeds are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from latchfree.arena.kernels.freelists import CLASSES
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.sketches.kernels.rows import MOST_DEPTH
from latchfree.structures import BLOOM, COUNT_MIN, HYPERLOGLOG, INVERSE_BLOOM, name_of

#: Four numbers; what they are depends on the kind.
Shape: TypeAlias = tuple[int, int, int, int]

#: Words before the cells, and before the record, where it begins at a multiple of 8.
OVERHEAD: Final = int(FIRST_CELL) + 7
#: The largest piece of memory that an arena hands out, in words, without those.
MOST_CELLS: Final = (1 << (7 + int(CLASSES) - 73)) - OVERHEAD

LEAST_PRECISION: Final = 4
MOST_PRECISION: Final = 21


def _bloom(shape: Shape) -> int:
    blocks, words, bits, expected = shape
    return blocks * words if blocks >= 1 and words in (4, 8) and 1 <= bits <= 4 and expected >= 1 else 0


def _hyperloglog(shape: Shape) -> int:
    precision = shape[0]
    return 1 << precision - 3 if LEAST_PRECISION <= precision <= MOST_PRECISION and shape[1:] == (0, 0, 0) else 0


def _count_min(shape: Shape) -> int:
    width, depth, conservative, rest = shape
    return width * depth if width >= 1 and 1 <= depth <= MOST_DEPTH and conservative <= 1 and rest == 0 else 0


def _inverse(shape: Shape) -> int:
    slots = shape[0]
    return slots if slots >= 2 and shape[1:] == (0, 0, 0) else 0


_CELLS: Final[dict[int, Callable[[Shape], int]]] = {
    BLOOM: _bloom,
    HYPERLOGLOG: _hyperloglog,
    COUNT_MIN: _count_min,
    INVERSE_BLOOM: _inverse,
}

#: The numbers of the kinds that are sketches.
KINDS: Final = frozenset(_CELLS)


def cells_of(kind: int, shape: Shape) -> int:
    """Return the words of cells of a sketch.

    Raises
    ------
    ValueError
        If no sketch of that kind has such a shape, or it is too large.
    """
    cells = _CELLS[kind](shape)
    if not cells:
        raise ValueError(f"no {name_of(kind)} has the shape {shape}")
    if cells > MOST_CELLS:
        raise ValueError(
            f"this {name_of(kind)} would have {8 * cells:,} bytes, the most is {8 * MOST_CELLS:,}; "
            "ask for less, or use several"
        )
    return cells
