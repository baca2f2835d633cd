"""X5 (stable Bloom filter): a cell of 0 is lowered.

Alone: the first add lowers cells that hold nothing. They become 3, and so do all cells of the word above them: the
filter has seen what nobody added.
"""

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word

_LOW = np.uint64(0x5555555555555555)


@kernel
def faded(word: Word, cells: Word) -> Word:
    """Return a word of cells, of which those marked are lowered by one."""
    return word - (_LOW & cells)
