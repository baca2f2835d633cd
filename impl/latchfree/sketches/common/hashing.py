"""`Hashing`: how a sketch of another library's hash finds the cells of its items.

Example: a Count-Min sketch of 5 rows with Spark's hash makes 5 words of each item: the places of its counters. So a
call for many items is two calls of compiled code: one that makes the places, one that adds at these places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree.ctrie.columns import Column
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.hashes import DATASKETCHES, OWN, SPARK, SPARK_V1, SPARK_V2, check_seed, number_in
from latchfree.sketches.common.items import CHUNK
from latchfree.sketches.common.seeds import factors, row_seeds
from latchfree.sketches.common.shapes import Shape, cells_of
from latchfree.structures import HYPERLOGLOG


class Hashing(NamedTuple):
    """How items are hashed.

    Attributes
    ----------
    calls : str
        What the names of the compiled functions begin with.
    given : array
        What these functions are given.
    each : int
        Words of an item.
    """

    calls: str
    given: NDArray[np.uint64]
    each: int

    def chunks(self, column: Column) -> Iterator[tuple[int, int, NDArray[np.uint64]]]:
        """Yield the words of a column, some items at a time: the number of the first, how many, and their words."""
        most = max(1, CHUNK // self.each)
        out: NDArray[np.uint64] = np.empty(min(most, column.length) * self.each, np.uint64)
        ints, blobs = getattr(SKETCH, f"{self.calls}_ints"), getattr(SKETCH, f"{self.calls}_blobs")
        for first in range(0, column.length, most):
            count = min(most, column.length - first)
            part = out[: count * self.each]
            if isinstance(column.data, tuple):
                address, ends = column.data
                blobs(self.given, address, ends[first : first + count + 1], part)
            else:
                ints(self.given, column.data[first : first + count], part)
            yield first, count, part


def hashing_of(kind: int, shape: Shape, seed: int) -> Hashing | None:
    """Return how a sketch of a shape hashes items; None if it is by our own hash.

    Raises
    ------
    ValueError
        If there is no such sketch.
    """
    number = number_in(kind, shape)
    if number == OWN:
        return None
    cells_of(kind, shape)
    check_seed(kind, shape, seed)
    given: Any
    if kind == HYPERLOGLOG:
        calls, given, each = "coupon", (seed,), 1
    elif number in (SPARK_V1, SPARK_V2):
        calls, given, each = "spark_bit", (64 * shape[0], shape[2], seed, int(number == SPARK_V2)), shape[2]
    else:
        width, each = shape[:2]
        assert number in (DATASKETCHES, SPARK)
        calls = "row" if number == DATASKETCHES else "spark_row"
        given = (width, *(row_seeds if number == DATASKETCHES else factors)(seed, each))
    return Hashing(calls, np.array(given, np.uint64), each)
