"""X25 (KLL): a new copy of a lane is in use before it is written.

Shortest: A has said that the other copy is in use, and waits. A reader finds no item in it.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.kll import flush as flush_right
from latchfree.sketches.kernels.lanes import ROOM, publish

_1 = np.uint64(1)
_32 = np.uint64(32)


@kernel
def flush(mem: Handle, record: Word, lane: Word, version: Word) -> None:
    """Say that the other copy is in use, and only then write it."""
    publish(mem, lane, (version + _1) << _32 | (peek(mem, record + ROOM) & _1))
    flush_right(mem, record, lane, version)
