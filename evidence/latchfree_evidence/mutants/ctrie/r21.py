"""R21: who takes the idle snapshot does not compare the main of its root with that of the trie's root.

Shortest: A gives a snapshot back, finds it current, and stops. B puts, which finds nothing idle. A parks the snapshot
and stops before the second look. B, whose put is done, takes the idle snapshot, and does not find its own put in it.
"""

from latchfree.atomics import cas, load_seq
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.shape import IDLE
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def take_idle(mem: Handle, trie: Word, me: Word) -> Word:
    """Return the slot that is idle, whatever was written since."""
    slot = load_seq(mem, trie + IDLE)
    if slot == NIL or not cas(mem, trie + IDLE, slot, NIL):
        return NIL
    return slot  # wrong: who has parked it may not have looked again
