"""W1 (Workiva): a snapshot takes the root that is current after its RDCSS instead of the one the RDCSS retired.

That root is live: writes that come after the snapshot show up in it. Shortest: A freezes; B puts into
both children, which renews them; A reads the root's C-node and the first child; B puts into the first child, then into
the second; A reads the last put and not the one before.
"""

from latchfree.atomics import poke
from latchfree.ctrie.kernels.gcas import read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.registry import FROZEN
from latchfree.ctrie.kernels.snapshot import freeze as freeze_right
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    """Register the root that is current after the RDCSS, which is live, as the snapshot."""
    slot = freeze_right(mem, trie, me)
    if slot != FULL:
        poke(mem, slot + FROZEN, read_root(mem, trie))  # the real one keeps the root it replaced
    return slot
