"""X2 (counting Bloom filter): a counter of 0 is lowered.

Shortest: A and B remove one item that was added once. A has found its counters above 0 and waits; B lowers them; A
lowers them once more. A counter becomes 255 and borrows from the next one, whose item is not there any more.
"""

import numpy as np

from latchfree.atomics import cas, load
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.counting import TOP

_1 = np.uint64(1)


@kernel
def lower_counter(mem: Handle, at: Word, shift: Word) -> None:
    """Take one from a counter, unless it is full."""
    while True:
        word = load(mem, at)
        if (word >> shift) & TOP == TOP or cas(mem, at, word, word - (_1 << shift)):
            return
