"""The root word and RDCSS: replacing the root only if its main has not changed.

Invariant: a descriptor's status is decided once, by CAS, *before* the root leaves the descriptor; the root then moves
to the new root iff the status is COMMIT. Any thread can finish a descriptor, and its initiator learns the outcome from
the status, however late. (Success recorded after the root has moved, as published, is done twice: mutant S2.)
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
    """Return a new descriptor: replace root `old` by `new` if the main of `old` is `expected`."""
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
    """Return the current root I-node; abort a replacement in progress, or finish it if it is decided.

    The root is read once. With a second read after an abort, one snapshotter after the other could keep an update from
    ever being decided (mutant A1). One read is enough: an aborted descriptor stood for the old root when it was read,
    and a committed one has just been replaced by the new root.
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
