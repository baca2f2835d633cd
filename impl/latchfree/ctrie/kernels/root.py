"""The root word and RDCSS: replacing the root only if its main has not changed.

Invariant: a descriptor's status is decided once, by CAS, *before* the root leaves the descriptor; the root then
moves to the new root iff the status is COMMIT. Whoever meets the descriptor can finish it, and the initiator
learns from the status what happened, however late it looks. (Recording success only after the root has moved,
as published, lets the initiator believe it failed and do it again: mutant S2.)
"""

import numpy as np

from latchfree.atomics import cas, load, load_seq, peek, poke
from latchfree.ctrie.kernels.nodes import NIL, PENDING, RDCSS, ROOT_WORD, UNTAG, new_node
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

OLD = np.uint64(1)
EXPECTED = np.uint64(2)
NEW = np.uint64(3)
STATUS = np.uint64(4)
DESCRIPTOR_WORDS = np.uint64(5)

UNDECIDED = np.uint64(0)
COMMIT = np.uint64(1)
ABORT = np.uint64(2)


@kernel
def new_descriptor(mem: Handle, me: Word, old: Word, expected: Word, new: Word, gen: Word) -> Word:
    d = new_node(mem, me, RDCSS, DESCRIPTOR_WORDS, gen)
    poke(mem, d + OLD, old)
    poke(mem, d + EXPECTED, expected)
    poke(mem, d + NEW, new)
    poke(mem, d + STATUS, UNDECIDED)
    return d


@kernel
def swing(mem: Handle, trie: Word, d: Word) -> Word:
    """Move the root from a decided descriptor to the I-node its status chose, and return that I-node."""
    # spec: none -- the status is decided by now, and final. Acquire: pairs with the CAS that decided.
    target = peek(mem, d + NEW) if load(mem, d + STATUS) == COMMIT else peek(mem, d + OLD)
    # spec: Ctrie!RdcssSwing, Ctrie!CompleteAbortRoot -- seq_cst publishes the new root; failing means somebody else
    # moved it already.
    cas(mem, trie + ROOT_WORD, d | PENDING, target)
    return target


@kernel
def abort_root(mem: Handle, trie: Word) -> Word:
    """The current root I-node, aborting a replacement in progress (or finishing it, once it is decided).

    It reads the root once. Reading again after an abort would let one snapshotter after the other keep an update
    from ever being decided (mutant A1). The answer is right all the same: an aborted descriptor stood for the old
    root when it was read, and a committed one has just been replaced by the new.
    """
    # spec: Ctrie!CompleteReadRoot -- LP of a committed update, decided by the prev CAS that follows.
    # seq_cst: the updater has CASed main and must now see a root replaced before that; with a weaker read both it and
    # the snapshotter could miss each other.
    word = load_seq(mem, trie + ROOT_WORD)
    if word & PENDING == NIL:
        return word
    d = word & UNTAG
    # spec: Ctrie!CompleteAbortStatus -- loses to a decision already taken, which swing then honours.
    cas(mem, d + STATUS, UNDECIDED, ABORT)
    return swing(mem, trie, d)
