"""X13 (Count-Min): a conservative update raises a counter by all that is missing, not at most by what it adds.

Shortest: A and B add one item each; both are announced. A has read the counters and waits; B raises its counters by 2,
for both; so does A. A row holds more than was added.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word

_0 = np.uint64(0)


@kernel
def missing(held: Word, least: Word, announced: Word, count: Word) -> Word:
    """Return what a counter needs up to all that is announced, however much that is."""
    wanted = least + announced
    return wanted - held if wanted > held else _0
