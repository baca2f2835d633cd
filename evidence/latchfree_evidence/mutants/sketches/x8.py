"""X8 (Top-K): the seal is made of the bytes alone.

Shortest: the slot holds item 2, sealed; A takes the slot for item 1 and waits. A reader finds the hash of item 1 and
the bytes of item 2, whose seal fits.
"""

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree.sketches.kernels.top import STEP
from latchfree.words import mix


@kernel
def seal_start(h: Word, length: Word) -> Word:
    """Leave the hash out."""
    return mix(length * STEP)
