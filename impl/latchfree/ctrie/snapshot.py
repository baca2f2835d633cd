"""Snapshots and clear: three uses of RDCSS on the root.

Invariant: a generation belongs to one root. A snapshot gives the live trie a root of a new generation and keeps
the old root, in which no update can commit from then on (see gcas). A writable snapshot continues from the old
root under yet another generation. LP of all three: the decision of the descriptor.
"""

import numpy as np

from latchfree.arena.allocator import begin, undo
from latchfree.atomics import cas, load, poke, store
from latchfree.ctrie.gcas import READ_ONLY, gcas_read, rdcss_complete, read_root
from latchfree.ctrie.insert import FULL
from latchfree.ctrie.nodes import (
    ATTEMPT_WORDS,
    HASH_MASK,
    NIL,
    PENDING,
    ROOT,
    ROOT_WORD,
    ROOT_WORDS,
    new_cnode,
    new_generation,
    new_inode,
    new_node,
)
from latchfree.ctrie.root import COMMIT, STATUS, new_descriptor
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

#: Words an attempt to replace a root may need: an I-node, an empty C-node, a descriptor. Few enough to come from the
#: arena's reserve.
ROOT_ATTEMPT_WORDS = np.uint64(16)


@kernel
def new_trie(mem: Handle, me: Word, hash_mask: Word) -> Word:
    """An empty trie, or FULL."""
    if not begin(mem, me, ATTEMPT_WORDS):
        return FULL
    gen = new_generation(mem)
    trie = new_node(mem, me, ROOT, ROOT_WORDS, gen)
    poke(mem, trie + HASH_MASK, hash_mask)
    i = new_inode(mem, me, new_cnode(mem, me, NIL, NIL, gen), gen)
    store(mem, trie + ROOT_WORD, i)
    return trie


@kernel
def _replace_root(mem: Handle, trie: Word, me: Word, empty: Word) -> Word:
    """Install a root of a new generation, with the main of the old one or an `empty` main.

    Returns the old root, or FULL.
    """
    while True:
        r = read_root(mem, trie)
        expected = gcas_read(mem, trie, r)
        if not begin(mem, me, ROOT_ATTEMPT_WORDS):
            return FULL
        gen = new_generation(mem)
        main = new_cnode(mem, me, NIL, NIL, gen) if empty else expected
        new = new_inode(mem, me, main, gen)
        d = new_descriptor(mem, me, r, expected, new, gen)
        # spec: Ctrie!RdcssInstall -- seq_cst: publishes the descriptor, and orders before the main read that decides.
        if not cas(mem, trie + ROOT_WORD, r, d | PENDING):
            undo(mem, me)
            continue
        rdcss_complete(mem, trie, d)
        # spec: Ctrie!RdcssReadStatus
        if load(mem, d + STATUS) == COMMIT:
            return r


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    """Read-only snapshot: the root I-node of a tree that no longer changes, or FULL."""
    return _replace_root(mem, trie, me, False)


@kernel
def clear(mem: Handle, trie: Word, me: Word) -> Word:
    """Empty the trie in one step. Returns the old root, or FULL."""
    return _replace_root(mem, trie, me, True)


@kernel
def fork_frozen(mem: Handle, me: Word, frozen: Word, hash_mask: Word) -> Word:
    """A trie of its own generation that starts with the contents below the frozen root I-node, or FULL."""
    if not begin(mem, me, ATTEMPT_WORDS):
        return FULL
    gen = new_generation(mem)
    trie = new_node(mem, me, ROOT, ROOT_WORDS, gen)
    poke(mem, trie + HASH_MASK, hash_mask)
    # The frozen root may hold an aborted main; gcas_read settles it before it is copied.
    store(mem, trie + ROOT_WORD, new_inode(mem, me, gcas_read(mem, READ_ONLY, frozen), gen))
    return trie
