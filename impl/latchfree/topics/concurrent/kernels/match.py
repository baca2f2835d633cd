"""Match a topic: collect, validate, and after some failures collect in a snapshot.

Invariant: `matches` returns exactly the subscriptions that the trie held for the topic at one instant between call and
return. If validation succeeds, every noted I-node had its noted main at the instant when the last was noted: a main
that was replaced never comes back, and the pin keeps its words from being used again. Nodes that are not noted are
frozen.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read, read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import NIL, ONE
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.snapshot import freeze
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.topics.concurrent.kernels.collect import FOUND, NOTED, TOO_SMALL, Space, collect

#: Collections that may fail to be validated before a snapshot is taken.
PATIENCE = 8


@kernel
def holds(mem: Handle, trie: Word, root: Word, noted: Word, words: Word) -> Flag:
    """Return whether every noted I-node still has its noted main, and the trie its root."""
    for n in range(NIL, words, 2):
        # spec: TopicTrie!ValidateMain -- seq_cst, after every read of the collection.
        if gcas_read(mem, trie, peek(noted, np.uint64(n))) != peek(noted, np.uint64(n) + ONE):
            return False
    # spec: Ctrie!RdcssRead
    return read_root(mem, trie) == root


@kernel
def matches(
    mem: Handle, trie: Word, frozen: Word, me: Word, rules: Word, address: Word, length: Word, count: Word,
    space: Space,
) -> Word:  # fmt: skip
    """Put the S-nodes that match a parsed topic into `space`; return their number, or TOO_SMALL.

    The S-nodes are the trie's, or the frozen tree's below `frozen` unless `frozen` is NIL. The caller must be pinned,
    and must stay pinned while it reads the S-nodes. TOO_SMALL: an array of `space` is too short, see `collect`.
    """
    failures = 0
    slot = NIL
    while True:
        root = frozen
        if frozen == NIL:
            # spec: Ctrie!RdcssRead
            root = read_root(mem, trie)
        where = trie if frozen == NIL else READ_ONLY
        fits = collect(mem, where, root, rules, address, length, count, space)
        # LP, if all holds: any instant between the two passes.
        if not fits or frozen != NIL or holds(mem, trie, root, space.noted, peek(space.counts, NOTED)):
            if slot != NIL:
                drop(mem, trie, me, slot)
            return peek(space.counts, FOUND) if fits else TOO_SMALL
        failures += 1
        if failures >= PATIENCE:
            # spec: TopicTrie!Fallback
            slot = freeze(mem, trie, me)
            if slot == FULL:
                slot = NIL
            else:
                frozen = peek(mem, slot + FROZEN)
