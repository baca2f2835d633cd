"""L1b (Workiva): the traversal of a snapshot passes over T-nodes.

A key whose level has been entombed, and not yet pulled up, is missing in the snapshot, and in the size. Shortest: A
removes one of two keys that share a slot, and stops before it cleans up; B counts the keys and finds none.
"""

from latchfree.ctrie.kernels.nodes import NIL, T_NODE, kind_of
from latchfree.ctrie.kernels.scan import next_slot as next_slot_right
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def next_slot(mem: Handle, main: Word, at: Word) -> Word:
    """Pass over a T-node as if nothing were in it."""
    return NIL if kind_of(mem, main) == T_NODE else next_slot_right(mem, main, at)
