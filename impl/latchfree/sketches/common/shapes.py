"""Shapes: the numbers that say how large a sketch is and where its items go, and how many words of cells they need.

Example: a Bloom filter of 40,000 blocks of 4 words, 2 bits of each word, has 160,000 words of cells. Two sketches can
be merged if their shapes and seeds are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, TypeAlias

from latchfree.arena.kernels.freelists import CLASSES
from latchfree.sketches.common.hashes import DATASKETCHES, SPARK, SPARK_V1, SPARK_V2, number_in
from latchfree.sketches.common.levels import lane_words
from latchfree.sketches.common.sizing import shape_for
from latchfree.sketches.kernels import scalable as layers
from latchfree.sketches.kernels import top
from latchfree.sketches.kernels.foreign import coupons
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.sketches.kernels.rows import MOST_DEPTH
from latchfree.structures import (
    BLOOM,
    COUNT_MIN,
    COUNTING_BLOOM,
    HYPERLOGLOG,
    INVERSE_BLOOM,
    KLL,
    MIN_HASH,
    PARTITIONED_BLOOM,
    RATE_LIMITER,
    SCALABLE_BLOOM,
    STABLE_BLOOM,
    TOP_K,
    name_of,
)

#: Four numbers; what they are depends on the kind.
Shape: TypeAlias = tuple[int, int, int, int]

#: Words before the cells, and before the record, where it begins at a multiple of 8.
OVERHEAD: Final = int(FIRST_CELL) + 7
#: The largest piece of memory that an arena hands out, in words, without those.
MOST_CELLS: Final = (1 << (7 + int(CLASSES) - 73)) - OVERHEAD

LEAST_PRECISION: Final = 4
MOST_PRECISION: Final = 21
MOST_SLICES: Final = 40
#: Rows, or bits of an item, of a sketch that is hashed as by another library.
MOST_FOREIGN: Final = 255
MOST_HASHES: Final = 1 << 16
#: Of a level of a KLL sketch, and its lanes.
LEAST_ROOM: Final = 8
MOST_ROOM: Final = (1 << 16) - 1
MOST_LANES: Final = 64
#: Cells that `check_head` looks at.
MOST_HEAD: Final = int(layers.FIRST_LAYER - FIRST_CELL + layers.MOST_LAYERS * layers.LAYER_WORDS)

#: Rates are whole numbers in a shape: parts of this.
RATE_UNIT: Final = 10**12
LEAST_RATE: Final = 1e-6

#: The ticks in which the bucket of a rate limiter may fill at most: they are added to a time and still make a word.
MOST_SPAN: Final = 1 << 62


def _bloom(shape: Shape) -> int:
    if number_in(BLOOM, shape):
        words, number, each, rest = shape
        return words if number in (SPARK_V1, SPARK_V2) and 1 <= each <= MOST_FOREIGN and rest == 0 else 0
    blocks, words, bits, expected = shape
    cells = blocks * words if blocks >= 1 and words in (4, 8) and 1 <= bits <= 4 else 0
    return cells if 1 <= expected <= 64 * cells else 0  # at half of all answers wrong, an item takes more than a bit


def _hyperloglog(shape: Shape) -> int:
    precision, number, *rest = shape
    fits = LEAST_PRECISION <= precision <= MOST_PRECISION and number in (0, DATASKETCHES) and rest == [0, 0]
    return 1 << precision - 3 if fits else 0


def _count_min(shape: Shape) -> int:
    width, depth, conservative, number = shape
    if number in (DATASKETCHES, SPARK):
        fits = conservative == 0 and 1 <= depth <= MOST_FOREIGN and width < 1 << (31 if number == SPARK else 32)
    else:
        fits = conservative <= 1 and 1 <= depth <= MOST_DEPTH and number == 0
    return width * depth if fits else 0


def _inverse(shape: Shape) -> int:
    slots = shape[0]
    return slots if slots >= 2 and shape[1:] == (0, 0, 0) else 0


def _partitioned(shape: Shape) -> int:
    words, slices, expected, rest = shape
    return words * slices if words >= 1 and 1 <= slices <= MOST_SLICES and expected >= 1 and rest == 0 else 0


def _counting(shape: Shape) -> int:
    width, slices, expected, rest = shape
    fits = width >= 8 and width % 8 == 0 and 1 <= slices <= MOST_SLICES and expected >= 1 and rest == 0
    return width * slices // 8 if fits else 0


def _stable(shape: Shape) -> int:
    slots, hashes, fading, rest = shape
    fits = slots >= 64 and slots % 32 == 0 and 1 <= hashes <= MOST_SLICES and 1 <= fading <= slots and rest == 0
    return slots // 32 if fits else 0


def _top(shape: Shape) -> int:
    width, depth, buckets, items = shape
    fits = width >= 1 and 1 <= depth <= MOST_DEPTH and buckets >= 1 and 1 <= items <= buckets * int(top.SLOTS)
    return width * depth + buckets * int(top.SLOTS * top.SLOT_WORDS) if fits else 0


def _min_hash(shape: Shape) -> int:
    return shape[0] if 1 <= shape[0] <= MOST_HASHES and shape[1:] == (0, 0, 0) else 0


def _kll(shape: Shape) -> int:
    room, count, *rest = shape
    fits = LEAST_ROOM <= room <= MOST_ROOM and 1 <= count <= MOST_LANES and rest == [0, 0]
    return count * lane_words(room) if fits else 0


def _scalable(shape: Shape) -> int:
    initial, count, rate, rest = shape
    fits = 1 <= initial <= MOST_CELLS and 1 <= count <= int(layers.MOST_LAYERS) and rest == 0
    return layers_of(shape)[-1][-1] if fits and RATE_UNIT * LEAST_RATE <= rate <= RATE_UNIT // 2 else 0


@cache
def layers_of(shape: Shape) -> list[tuple[int, int, int, int, int, int]]:
    """Return of each layer of a scalable filter: its first cell, blocks, words, bits, items, and the cell behind it.

    The layers double, and their rates fall by a fifth each: all rates together stay below the one that was asked for.
    """
    initial, count, rate, _ = shape
    found, at = [], int(layers.FIRST_LAYER - FIRST_CELL + layers.MOST_LAYERS * layers.LAYER_WORDS)
    for k in range(count):
        items = initial << k
        if items > 64 * MOST_CELLS or at > MOST_CELLS:
            return [(at, 1, 4, 1, items, MOST_CELLS + 1)]
        blocks, words, bits = shape_for(items, rate / RATE_UNIT * 0.2 * 0.8**k)
        found.append((at, blocks, words, bits, items, at + blocks * words))
        at += blocks * words
    return found


def most_rank(shape: Shape) -> int:
    """Return how high a register of a HyperLogLog can be."""
    return int(coupons.MOST_RANK) if number_in(HYPERLOGLOG, shape) else 65 - shape[0]


def head_of(kind: int, shape: Shape, empty: int = 0) -> list[int]:
    """Return what the first cells of an empty sketch hold; the others hold 0."""
    if kind != SCALABLE_BLOOM:
        return [empty]
    head = [0] * int(layers.FIRST_LAYER - FIRST_CELL)
    for at, blocks, words, bits, items, _ in layers_of(shape):
        head += [at, blocks, words, bits, items, 0, shape[1], 0]
    return head


def counters_of(kind: int, shape: Shape) -> int:
    """Return how many of the first cells are counters of a word, which nothing but adds has raised."""
    return shape[0] * shape[1] if kind in (COUNT_MIN, TOP_K) else 0


def check_head(kind: int, shape: Shape, cells: Sequence[int]) -> None:
    """Make sure that the first cells are those of such a sketch, where compiled code takes them on trust.

    Raises
    ------
    ValueError
        If they are not.
    """
    if kind == SCALABLE_BLOOM:
        head, found = head_of(kind, shape), list(cells)
        last, found[0] = found[0], 0
        for k in range(shape[1]):
            found[int(layers.FIRST_LAYER - FIRST_CELL + layers.LAYER_WORDS * k + layers.COUNT)] = 0
        if last >= shape[1] or found[: len(head)] != head:
            raise ValueError("its layers are not those of its shape")


def _rate_limiter(shape: Shape) -> int:
    cost, span, when_empty, rest = shape
    return 8 if 1 <= cost <= span <= MOST_SPAN and span % cost == 0 and when_empty <= 2 and rest == 0 else 0


_CELLS: Final[dict[int, Callable[[Shape], int]]] = {
    BLOOM: _bloom,
    HYPERLOGLOG: _hyperloglog,
    COUNT_MIN: _count_min,
    INVERSE_BLOOM: _inverse,
    PARTITIONED_BLOOM: _partitioned,
    COUNTING_BLOOM: _counting,
    SCALABLE_BLOOM: _scalable,
    STABLE_BLOOM: _stable,
    TOP_K: _top,
    MIN_HASH: _min_hash,
    KLL: _kll,
    RATE_LIMITER: _rate_limiter,
}

#: The numbers of the kinds that have a record, and of those that are sketches.
RECORDS: Final = frozenset(_CELLS)
KINDS: Final = RECORDS - {RATE_LIMITER}


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
