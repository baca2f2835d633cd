"""S2 (Scala 2.12.18, Workiva): an RDCSS succeeds when the root moves, and is marked as committed only afterwards.

Its initiator, asking in between, believes that it failed and does it again. Shortest: A installs the descriptor of a
`clear`; B, about to put, completes it: it moves the root and stops before the mark; A sees no mark and begins anew; B
puts into the empty map; A clears it once more, and the put, which saw the first clear, is gone.
"""

from latchfree.atomics import cas, load_seq, peek, store
from latchfree.ctrie.kernels.gcas import COMMIT, EXPECTED, NEW, OLD, STATUS, gcas_read
from latchfree.ctrie.kernels.nodes import NIL, PENDING, ROOT_WORD, UNTAG
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def rdcss_complete(mem: Handle, trie: Word, d: Word) -> None:
    """Move the root first and mark the descriptor as committed afterwards."""
    old = peek(mem, d + OLD)
    if gcas_read(mem, trie, old) != peek(mem, d + EXPECTED):
        # spec: Ctrie!RdcssSwing
        cas(mem, trie + ROOT_WORD, d | PENDING, old)
    # spec: Ctrie!RdcssSwing
    elif cas(mem, trie + ROOT_WORD, d | PENDING, peek(mem, d + NEW)):
        # spec: Ctrie!RdcssDecide
        store(mem, d + STATUS, COMMIT)  # the real one decides the status first, and the root follows


@kernel
def abort_root(mem: Handle, trie: Word) -> Word:
    """Put the old root back without deciding the status."""
    while True:
        # spec: Ctrie!CompleteReadRoot
        word = load_seq(mem, trie + ROOT_WORD)
        if word & PENDING == NIL:
            return word
        old = peek(mem, (word & UNTAG) + OLD)
        # spec: Ctrie!CompleteAbortRoot
        if cas(mem, trie + ROOT_WORD, word, old):
            return old
