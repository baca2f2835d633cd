"""R10: who advances the epoch does not look at the pin of the first participant.

Shortest: A, the first one, pins itself and reads the link to a node. B replaces the node and retires it, and advances
the epoch twice: the node is free while A still reads.
"""

import numpy as np

from latchfree.arena.layout import H_CLAIMED, H_EPOCH, P_PIN, PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import cas, load_seq
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)


@kernel
def try_advance(mem: Handle) -> Flag:
    """Begin the scan with the second participant."""
    epoch = load_seq(mem, H_EPOCH)
    for k in range(1, load_seq(mem, H_CLAIMED)):
        word = load_seq(mem, _FIRST + np.uint64(k) * _STRIDE + P_PIN)
        if word != _0 and word >> _1 != epoch:
            return False
    return cas(mem, H_EPOCH, epoch, epoch + _1)
