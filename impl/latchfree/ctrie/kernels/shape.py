"""The shapes of a trie's nodes: what the words of each kind mean to code that reads, walks or frees them.

Example: the C-node of two keys has 5 words: the header, ``prev``, a bitmap with two bits set, and two slots.

Every node starts with a header word (`latchfree.arena.kernels.node`). *Main nodes* (C, T, L) keep ``prev`` in word 1,
so that GCAS need not know which kind it commits.

======  =====================================================================================
node    words after the header
======  =====================================================================================
INode   main; a *branch* of a topic trie also the digit it stands for
CNode   prev, bitmap, one slot a set bit: an S-node, or an I-node tagged `CHILD` (a branch: also `BRANCH`)
TNode   prev, S-node; in a topic trie any slot but a plain I-node, or nothing
LNode   prev, count, S-nodes whose keys share the whole hash
SNode   key and value (see `latchfree.ctrie.kernels.snode`); of kind `PAIR` where these are objects of Python
Root    root word (an I-node, or a descriptor tagged `PENDING`), hash mask, snapshot table, count of
        registered snapshots, lock of whoever drops snapshots, 1 if it goes on from a snapshot, the next
        number of a topic trie, slot of the idle snapshot: one per trie
RDCSS   old root, expected main, new root, status
Table   snapshot slots (see `latchfree.ctrie.kernels.registry`)
======  =====================================================================================

Only ``main``, ``prev``, the root word and the status ever change after a node of a trie is published. An offset
fits in 40 bits, so tags live in the top bit.
"""

import numpy as np

from latchfree.arena.kernels.node import HOLDER
from latchfree.arena.layout import P_SCRATCH, P_SCRATCH_LIST, P_SCRATCH_MORE

I_NODE = np.uint64(1)
C_NODE = np.uint64(2)
T_NODE = np.uint64(3)
L_NODE = np.uint64(4)
S_NODE = np.uint64(5)
ROOT = np.uint64(6)
RDCSS = np.uint64(7)
TABLE = np.uint64(9)
PAIR = HOLDER  # an S-node that holds references

TAG = np.uint64(1 << 63)
CHILD = TAG  # on a slot: an I-node, not an S-node
FAILED = TAG  # on prev: the update was aborted, the rest is the main to restore
PENDING = TAG  # on the root word: an RDCSS descriptor, not an I-node
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
IDLE = np.uint64(8)

I_WORDS = np.uint64(2)
B_WORDS = np.uint64(3)
C_WORDS = np.uint64(3)  # and one a slot
T_WORDS = np.uint64(3)
L_WORDS = np.uint64(3)  # and one an entry
ROOT_WORDS = np.uint64(9)

# What operations of tries keep in the scratch words of their participant.
P_DOOMED = P_SCRATCH_LIST  # I-nodes of a trie that is being destroyed, linked through their headers
P_PATH = P_SCRATCH  # I-nodes from the root to the place of a removal
P_RETIRING = P_SCRATCH + np.uint64(16)  # the nodes being retired together, see latchfree.ctrie.kernels.retirement
P_WALK = P_SCRATCH_MORE  # the nodes of a tree being retired, see latchfree.ctrie.kernels.retirement
