"""R1: a snapshot is registered after its RDCSS has committed.

Shortest: A's RDCSS commits. B, whose put commits in the new generation, looks for snapshots, finds none, and retires
the main that it has replaced. A registers the snapshot and unpins; the node is freed, and A reads it.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT, abandon, failed, undo
from latchfree.arena.kernels.epochs import retire
from latchfree.atomics import cas, load
from latchfree.ctrie.kernels.gcas import COMMIT, STATUS, gcas_read, new_descriptor, rdcss_complete, read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import PENDING, ROOT_WORD, gen_of, new_generation, new_inode
from latchfree.ctrie.kernels.registry import NO_ROOM, register
from latchfree.ctrie.kernels.retirement import retire_pair
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    """Replace the root first, and register then."""
    while True:
        r = read_root(mem, trie)
        expected = gcas_read(mem, trie, r)
        if not begin(mem, me, URGENT):
            return FULL
        gen = new_generation(mem)
        d = new_descriptor(mem, me, r, expected, new_inode(mem, me, expected, gen), gen)
        if failed(mem, me):
            return FULL
        if not cas(mem, trie + ROOT_WORD, r, d | PENDING):
            undo(mem, me)
            continue
        rdcss_complete(mem, trie, d)
        if load(mem, d + STATUS) != COMMIT:
            abandon(mem, me)
            continue
        retire(mem, me, d)
        slot = register(mem, trie, me, r, gen_of(mem, r))
        if slot == NO_ROOM:
            return FULL
        retire_pair(mem, trie, me, gen, r, np.uint64(0))
        return slot
