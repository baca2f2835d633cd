"""R8: a node is free one epoch after it was retired.

Shortest: A pins itself in epoch e and reads the link to a node. B replaces the node, retires it in epoch e, advances
the epoch to e + 1, which A's pin allows, and frees the node. B's next write uses it while A still reads.
"""

import numpy as np

from latchfree.arena.kernels.blocks import EPOCH
from latchfree.arena.layout import H_EPOCH
from latchfree.atomics import load, peek
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def _is_due(mem: Handle, block: Word) -> Flag:
    """Wait for one epoch instead of two."""
    return block != _0 and peek(mem, block + EPOCH) + _1 <= load(mem, H_EPOCH)
