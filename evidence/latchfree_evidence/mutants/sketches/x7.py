"""X7 (scalable Bloom filter): who counts a layer full adds one to the number of the last layer, whoever else has.

Shortest: A has counted the first layer full; B adds an item to it, finds it full, too, and says that the second layer
is in use; A then says so of the third. The second stays empty.
"""

import numpy as np

from latchfree.atomics import fetch_add, peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.scalable import LAST, LAYERS, layer_at

_1 = np.uint64(1)


@kernel
def grow(mem: Handle, record: Word, last: Word) -> None:
    """Say that one more layer is in use."""
    if last + _1 < peek(mem, layer_at(record, last) + LAYERS):
        fetch_add(mem, record + LAST, _1)
