"""GCAS: replacing an I-node's main, provided the trie's root is still of the I-node's generation.

Invariant (generation exclusivity): if a GCAS on an I-node of generation g commits, no I-node of a later
generation holds a copy of the main it replaced. A copier reads the newer root first, through `complete`, which
forces the older generation's pending update to abort.

The new main carries ``prev``: the old main while undecided, NIL once committed, the old main tagged FAILED once
aborted. Committed is final and so is aborted; every reader of a main goes through `gcas_read`, which decides a
pending update before looking at it.
"""

import numpy as np

from latchfree.atomics import cas, load, load_seq, peek, poke
from latchfree.ctrie.kernels.nodes import FAILED, MAIN, NIL, PENDING, PREV, ROOT_WORD, UNTAG, gen_of
from latchfree.ctrie.kernels.root import ABORT, COMMIT, EXPECTED, OLD, STATUS, UNDECIDED, abort_root, swing
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

#: Outcomes of `gcas`. LOST: another main was there, so the new one is still private. ABORTED: it was seen.
LOST = np.uint64(0)
COMMITTED = np.uint64(1)
ABORTED = np.uint64(2)

#: In place of a trie: the reader of a frozen tree, which aborts what is pending and never asks a root.
READ_ONLY = np.uint64(0)


@kernel
def complete(mem: Handle, trie: Word, i: Word, m: Word) -> Word:
    """Decide the pending update that put `m` into I-node `i`, and return the committed main of `i`."""
    while True:
        # spec: Ctrie!CompleteReadPrev -- before the root, so that the root read is current for this prev.
        prev = load(mem, m + PREV)
        if prev == NIL:
            return m
        if prev & FAILED != NIL:
            # spec: Ctrie!CompleteRollback
            if cas(mem, i + MAIN, m, prev & UNTAG):
                return prev & UNTAG
        elif trie != READ_ONLY and gen_of(mem, abort_root(mem, trie)) == gen_of(mem, i):
            # spec: Ctrie!CompleteCommit -- LP: fixes that the update happened at the root read above.
            if cas(mem, m + PREV, prev, NIL):
                return m
            continue
        else:
            # spec: Ctrie!CompleteFail -- fails only if someone decided first; the reread tells.
            cas(mem, m + PREV, prev, prev | FAILED)
        # spec: Ctrie!CompleteRereadMain
        m = load(mem, i + MAIN)


@kernel
def gcas_read(mem: Handle, trie: Word, i: Word) -> Word:
    """Return the committed main of an I-node. LP of lookups."""
    # spec: Ctrie!GcasReadMain -- seq_cst: a snapshotter has installed its descriptor and must now see any main
    # installed before an updater's root read missed it (the other half of the pact in abort_root).
    m = load_seq(mem, i + MAIN)
    # spec: Ctrie!GcasReadPrev -- NIL is stable, so one acquire load decides the common case.
    if load(mem, m + PREV) == NIL:
        return m
    return complete(mem, trie, i, m)


@kernel
def gcas(mem: Handle, trie: Word, i: Word, old: Word, new: Word) -> Word:
    """Try to replace main `old` of `i` by `new`, a node nobody has seen; return one of the outcomes above."""
    poke(mem, new + PREV, old)
    # spec: Ctrie!GcasCas -- seq_cst: publishes the new node, and orders before the root read in complete.
    if not cas(mem, i + MAIN, old, new):
        return LOST
    complete(mem, trie, i, new)
    # spec: Ctrie!GcasReadPrevAfter -- success is judged by prev alone, not by what complete returned.
    if load(mem, new + PREV) == NIL:
        return COMMITTED
    return ABORTED


@kernel
def read_root(mem: Handle, trie: Word) -> Word:
    """Return the current root I-node; complete a replacement in progress first."""
    while True:
        # spec: Ctrie!RdcssRead
        word = load_seq(mem, trie + ROOT_WORD)
        if word & PENDING == NIL:
            return word
        rdcss_complete(mem, trie, word & UNTAG)


@kernel
def rdcss_complete(mem: Handle, trie: Word, d: Word) -> Word:
    """Decide a descriptor by comparing the old root's main, and move the root accordingly."""
    # spec: Ctrie!RdcssReadStatus -- acquire: pairs with the CAS that decided.
    if load(mem, d + STATUS) == UNDECIDED:
        m = gcas_read(mem, trie, peek(mem, d + OLD))
        verdict = COMMIT if m == peek(mem, d + EXPECTED) else ABORT
        # spec: Ctrie!RdcssDecide -- LP of snapshot and clear when it commits.
        cas(mem, d + STATUS, UNDECIDED, verdict)
    swing(mem, trie, d)
