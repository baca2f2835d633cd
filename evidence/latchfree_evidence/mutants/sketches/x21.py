"""X21 (Count-Min): a load and a store for the atomic addition.

Shortest: A has read a counter; B adds the same item; A writes what A has read, plus one. The counter is 1 for two adds.
"""

import numpy as np

from latchfree.atomics import high_product, load, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL
from latchfree.sketches.kernels.rows import DEPTH, WIDTH, next_row

_0 = np.uint64(0)


@kernel
def add_plainly(mem: Handle, record: Word, h: Word, count: Word) -> Word:
    """Add to the counter of each row in two steps."""
    width = peek(mem, record + WIDTH)
    row = record + FIRST_CELL
    least = ~_0
    for _ in range(peek(mem, record + DEPTH)):
        h = next_row(h)
        at = row + high_product(h, width)
        held = load(mem, at) + count
        store(mem, at, held)
        least = min(least, held)
        row += width
    return least
