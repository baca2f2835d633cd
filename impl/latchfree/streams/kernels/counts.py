"""What a ring counts besides its positions: refusals, waits, values dropped, cells mended, and the most values held.

Example: a ring of 4 cells that has refused two puts has 2 in the word `REFUSED_PUTS`, and 4 in `MOST`.

The counts are written where an operation is refused or a batch is over, never between two values of a batch. They say
nothing that an operation relies on.
"""

import numpy as np

from latchfree.atomics import fetch_add, fetch_max, load, peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.layout import DEQ, ENQ, MASK, MOST
from latchfree.streams.kernels.positions import end_of, length

_1 = np.uint64(1)


@kernel
def add(mem: Handle, word: Word, more: Word) -> None:
    """Count."""
    # spec: none -- for people.
    fetch_add(mem, word, more)


@kernel
def note_most(mem: Handle, ring: Word) -> None:
    """Note how many values the ring holds, after a put."""
    # spec: none -- for people: others may put and get between the two.
    taken = load(mem, ring + DEQ)
    # spec: none -- as above.
    filled = load(mem, ring + ENQ)
    held = min(length(end_of(filled, taken), taken), peek(mem, ring + MASK) + _1)
    if held > peek(mem, ring + MOST):
        # spec: none -- as above.
        fetch_max(mem, ring + MOST, held)
