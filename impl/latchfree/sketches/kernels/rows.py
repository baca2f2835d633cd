"""Where the counters of an item are: one in each row of a Count-Min sketch."""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree.sketches.kernels.record import SHAPE

# The shape.
WIDTH = SHAPE  # counters in a row
DEPTH = SHAPE + np.uint64(1)  # rows
CONSERVATIVE = SHAPE + np.uint64(2)  # 1 if an add raises a counter no further than the estimate needs

#: The most rows of a sketch.
MOST_DEPTH = 16

_ODD = np.uint64(0x9E3779B97F4A7C15)


@kernel
def next_row(h: Word) -> Word:
    """Return the hash of an item in the next row: its upper bits, times the width, say which counter is the item's."""
    return h * _ODD
