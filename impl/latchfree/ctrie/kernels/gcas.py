"""GCAS and RDCSS: replacing an I-node's main, and the root, each on condition of the other.

Example: an update installs a new main in an I-node of generation 4. If the root is of generation 4 still, the new main
is committed; if a snapshot has meanwhile made a root of generation 5, the old main comes back, and the update starts
again from the new root.

GCAS replaces a main provided that the root is still of the I-node's generation. RDCSS replaces the root provided that
its main has not changed. Each reads what the other writes, and decides a pending update of the other first.

Invariant (generation exclusivity): if a GCAS on an I-node of generation g commits, no I-node of a later
generation holds a copy of the main it replaced. A copier reads the newer root first, through `complete`, which
forces the older generation's pending update to abort.

The new main carries ``prev``: the old main while undecided, NIL once committed, the old main tagged FAILED once
aborted. Committed is final and so is aborted; every reader of a main goes through `gcas_read`, which decides a
pending update before looking at it.

The root word is an I-node, or a descriptor of RDCSS while the root is being replaced. Invariant: the status of a
descriptor is decided once, by CAS, *before* the root leaves the descriptor; the root then moves to the new root iff the
status is COMMIT. Any thread can finish a descriptor, and its initiator learns the outcome from the status, however
late. (Success recorded after the root has moved, as published, is done twice: mutant S2.)
"""

import numpy as np

from latchfree.arena.kernels.allocator import abandon, failed, undo
from latchfree.atomics import cas, in_line, load, load_seq, out_of_line, peek, poke
from latchfree.ctrie.kernels.nodes import FAILED, MAIN, NIL, PENDING, PREV, RDCSS, ROOT_WORD, UNTAG, gen_of, new_node
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

#: Outcomes of `gcas`. LOST: another main was there, so the new one is still private. ABORTED: it was seen.
LOST = np.uint64(0)
COMMITTED = np.uint64(1)
ABORTED = np.uint64(2)
#: Another outcome of an attempt: memory has run out, so nothing was tried.
NO_MEMORY = np.uint64(3)

#: In place of a trie: the reader of a frozen tree, which aborts what is pending and never asks a root.
READ_ONLY = np.uint64(0)

#: Words of a descriptor: replace root `OLD` by `NEW` if the main of `OLD` is `EXPECTED`.
OLD = np.uint64(1)
EXPECTED = np.uint64(2)
NEW = np.uint64(3)
STATUS = np.uint64(4)
DESCRIPTOR_WORDS = np.uint64(5)

UNDECIDED = np.uint64(0)
COMMIT = np.uint64(1)
ABORT = np.uint64(2)


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


@kernel
def complete(mem: Handle, trie: Word, i: Word, m: Word) -> Word:
    """Decide the pending update that put `m` into I-node `i`, and return the committed main of `i`."""
    in_line()
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
    return _complete_read(mem, trie, i, m)


@kernel
def _complete_read(mem: Handle, trie: Word, i: Word, m: Word) -> Word:
    """Do as `complete` does, where a reader finds an update pending: the rare case."""
    out_of_line()
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
def conclude(mem: Handle, trie: Word, me: Word, i: Word, old: Word, new: Word) -> Word:
    """End an attempt, whose `new` is to replace main `old` of `i`: an outcome of `gcas`, or NO_MEMORY.

    Unless the attempt commits, its nodes are freed: at once if nobody has seen them.
    """
    in_line()
    if failed(mem, me):
        return NO_MEMORY
    outcome = gcas(mem, trie, i, old, new)
    if outcome == LOST:
        undo(mem, me)
    elif outcome == ABORTED:
        abandon(mem, me)
    return outcome


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
def new_descriptor(mem: Handle, me: Word, old: Word, expected: Word, new: Word, gen: Word) -> Word:
    """Return a new descriptor: replace root `old` by `new` if the main of `old` is `expected`."""
    d = new_node(mem, me, RDCSS, DESCRIPTOR_WORDS, gen)
    poke(mem, d + OLD, old)
    poke(mem, d + EXPECTED, expected)
    poke(mem, d + NEW, new)
    poke(mem, d + STATUS, UNDECIDED)
    return d
