"""The shapes of nodes: what the words of an arena mean to whoever has to walk or free what others have built.

Every node starts with a header word: kind (4 bits), size in words (20), birth generation (40). *Main nodes*
(C, T, L) keep ``prev`` in word 1, so that GCAS need not know which kind it commits.

======  =====================================================================================
node    words after the header
======  =====================================================================================
INode   main; a *branch* of a topic trie also the digit it stands for
CNode   prev, bitmap, one slot a set bit: an S-node, or an I-node tagged `CHILD` (a branch: also `BRANCH`)
TNode   prev, S-node; in a topic trie any slot but a plain I-node, or nothing
LNode   prev, count, S-nodes whose keys share the whole hash
SNode   key and value (see `latchfree.ctrie.kernels.entries`)
Root    root word (an I-node, or a descriptor tagged `PENDING`), hash mask, snapshot table, count of
        registered snapshots, lock of whoever drops snapshots, 1 if it goes on from a snapshot, the next
        number of a topic trie: one per trie
RDCSS   old root, expected main, new root, status
Table   snapshot slots (see `latchfree.ctrie.kernels.registry`)
Block   retired nodes (see `latchfree.arena.kernels.blocks`)
======  =====================================================================================

Only ``main``, ``prev``, the root word and the status ever change after a node of a trie is published. An offset
fits in 40 bits, so tags live in the top bit.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

I_NODE = np.uint64(1)
C_NODE = np.uint64(2)
T_NODE = np.uint64(3)
L_NODE = np.uint64(4)
S_NODE = np.uint64(5)
ROOT = np.uint64(6)
RDCSS = np.uint64(7)
BLOCK = np.uint64(8)
TABLE = np.uint64(9)

TAG = np.uint64(1 << 63)
CHILD = TAG  # on a slot: an I-node, not an S-node
FAILED = TAG  # on prev: the update was aborted, the rest is the main to restore
PENDING = TAG  # on the root word: an RDCSS descriptor, not an I-node
TREE = TAG  # on the entry of a block: an I-node and everything below it
UNTAG = np.uint64((1 << 63) - 1)
BRANCH = np.uint64(1 << 62)  # on a slot, besides `CHILD`: an I-node with a digit
PLAIN = np.uint64((1 << 62) - 1)  # a slot without its tags

MAIN = np.uint64(1)
DIGIT = np.uint64(2)
PREV = np.uint64(1)
BITMAP = np.uint64(2)
SLOTS = np.uint64(3)
TOMBED = np.uint64(2)
COUNT = np.uint64(2)
ENTRIES = np.uint64(3)
ROOT_WORD = np.uint64(1)
HASH_MASK = np.uint64(2)
SNAPSHOTS = np.uint64(3)
REGISTERED = np.uint64(4)
DROP_LOCK = np.uint64(5)
IS_FORK = np.uint64(6)
NUMBERS = np.uint64(7)

I_WORDS = np.uint64(2)
B_WORDS = np.uint64(3)
C_WORDS = np.uint64(3)  # and one a slot
T_WORDS = np.uint64(3)
L_WORDS = np.uint64(3)  # and one an entry
ROOT_WORDS = np.uint64(8)

KIND_SHIFT = np.uint64(60)
SIZE_SHIFT = np.uint64(40)
SIZE_MASK = np.uint64((1 << 20) - 1)
BIRTH_MASK = np.uint64((1 << 40) - 1)


@kernel
def header(kind: Word, words: Word, birth: Word) -> Word:
    return (kind << KIND_SHIFT) | (words << SIZE_SHIFT) | birth


@kernel
def kind_of(mem: Handle, node: Word) -> Word:
    return peek(mem, node) >> KIND_SHIFT


@kernel
def size_of(mem: Handle, node: Word) -> Word:
    """Words of a node in use."""
    return (peek(mem, node) >> SIZE_SHIFT) & SIZE_MASK


@kernel
def gen_of(mem: Handle, node: Word) -> Word:
    """The generation a node was born in; for an I-node, the generation it belongs to."""
    return peek(mem, node) & BIRTH_MASK
