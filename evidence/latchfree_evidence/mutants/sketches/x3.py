"""X3 (counting Bloom filter): a full counter is lowered, as if it knew what it has counted.

Alone: an item is added 256 times and removed 255 times. Its counters have stayed at 255 and then fallen to 0.
"""

import numpy as np

from latchfree.atomics import cas, load
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.counting import TOP

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def lower_counter(mem: Handle, at: Word, shift: Word) -> None:
    """Take one from a counter, unless it is empty."""
    while True:
        word = load(mem, at)
        if (word >> shift) & TOP == _0 or cas(mem, at, word, word - (_1 << shift)):
            return
