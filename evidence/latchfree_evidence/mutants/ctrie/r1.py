"""R1: a snapshot is registered after its RDCSS has committed.

Shortest: A's RDCSS commits. B, whose put commits in the new generation, looks for snapshots, finds none, and retires
the main that it has replaced. A registers the snapshot and unpins; the node is freed, and A reads it.
"""

from latchfree.ctrie.kernels.gcas import read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import NIL, gen_of
from latchfree.ctrie.kernels.registry import NO_ROOM, register
from latchfree.ctrie.kernels.retirement import retire_pair
from latchfree.ctrie.kernels.snapshot import try_replace
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    """Replace the root first, and register then."""
    while True:
        r = read_root(mem, trie)
        death = try_replace(mem, trie, me, r, False)
        if death == FULL:
            return FULL
        if death != NIL:
            slot = register(mem, trie, me, r, gen_of(mem, r))
            if slot == NO_ROOM:
                return FULL
            retire_pair(mem, trie, me, death, r, NIL)
            return slot
