"""R22: who parks a snapshot does not look again whether it is current.

Shortest: A gives a snapshot back, finds it current, and stops. B puts, which finds nothing idle. A parks the snapshot:
it stays idle though it is old, and keeps the memory of what later puts replace.
"""

from latchfree.atomics import cas
from latchfree.ctrie.kernels.idle import frozen_main, is_current
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import drop
from latchfree.ctrie.kernels.shape import IDLE
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def give(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Park a snapshot that is current, or drop it."""
    if is_current(mem, trie, frozen_main(mem, slot)) and cas(mem, trie + IDLE, NIL, slot):
        return  # wrong: an update may have looked for an idle snapshot in between
    drop(mem, trie, me, slot)
