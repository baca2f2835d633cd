"""R9: a node is retired in the epoch that its thread has pinned, not in the one after the unlinking.

Shortest: B pins itself in epoch e. C advances the epoch to e + 1; A pins itself in it, and reads the link to a node. B
unlinks the node, retires it in epoch e and advances the epoch to e + 2, which A's pin allows: the node is free.
"""

import numpy as np

from latchfree.arena.kernels.blocks import EPOCH, append, entry_for, is_full, take_spare
from latchfree.arena.kernels.epochs import enqueue
from latchfree.arena.layout import P_NEWEST, P_OLDEST, P_PIN
from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def retire(mem: Handle, me: Word, node: Word) -> None:
    """Retire a node in the epoch of the pin."""
    epoch = peek(mem, me + P_PIN) >> _1
    block = peek(mem, me + P_NEWEST)
    if peek(mem, me + P_OLDEST) == _0 or peek(mem, block + EPOCH) != epoch or is_full(mem, block):
        block = take_spare(mem, me)
        enqueue(mem, me, block, epoch)
    append(mem, block, entry_for(mem, node))
