"""The nodes of a Ctrie as words in an arena.

Every node starts with a header word: kind (4 bits), size in words (20), birth generation (40). *Main nodes*
(C, T, L) keep ``prev`` in word 1, so that GCAS need not know which kind it commits.

======  =====================================================================================
node    words after the header
======  =====================================================================================
INode   main
CNode   prev, bitmap, one slot a set bit: an S-node, or an I-node tagged `CHILD`
TNode   prev, S-node
LNode   prev, count, S-nodes whose keys share the whole hash
SNode   key and value (see `entries`)
Root    root word (an I-node, or a descriptor tagged `PENDING`), hash mask: one per trie
RDCSS   old root, expected main, new root, status
======  =====================================================================================

Only ``main``, ``prev``, the root word and the status ever change after a node is published. An offset fits in
40 bits, so tags live in the top bit.
"""

import numpy as np

from latchfree.arena.allocator import allocate
from latchfree.arena.layout import H_GENERATION
from latchfree.atomics import fetch_add, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.words import flag_of, position

NIL = np.uint64(0)
ONE = np.uint64(1)

I_NODE = np.uint64(1)
C_NODE = np.uint64(2)
T_NODE = np.uint64(3)
L_NODE = np.uint64(4)
S_NODE = np.uint64(5)
ROOT = np.uint64(6)
RDCSS = np.uint64(7)

TAG = np.uint64(1 << 63)
CHILD = TAG  # on a slot: an I-node, not an S-node
FAILED = TAG  # on prev: the update was aborted, the rest is the main to restore
PENDING = TAG  # on the root word: an RDCSS descriptor, not an I-node
UNTAG = np.uint64((1 << 63) - 1)

MAIN = np.uint64(1)
PREV = np.uint64(1)
BITMAP = np.uint64(2)
SLOTS = np.uint64(3)
TOMBED = np.uint64(2)
COUNT = np.uint64(2)
ENTRIES = np.uint64(3)
ROOT_WORD = np.uint64(1)
HASH_MASK = np.uint64(2)

I_WORDS = np.uint64(2)
C_WORDS = np.uint64(3)  # and one a slot
T_WORDS = np.uint64(3)
L_WORDS = np.uint64(3)  # and one an entry
ROOT_WORDS = np.uint64(8)

#: Hash bits a level consumes; the slice of level 60 has four bits, and an L-node hangs at 66.
STRIDE = np.uint64(6)
LAST_LEVEL = np.uint64(60)

#: Words an attempt may need besides a new S-node: a renewed C-node with 64 new children, or a chain of
#: eleven I-nodes and C-nodes down to an L-node of two, and a copied C-node above it.
ATTEMPT_WORDS = np.uint64(320)

_KIND_SHIFT = np.uint64(60)
_SIZE_SHIFT = np.uint64(40)
_BIRTH_MASK = np.uint64((1 << 40) - 1)


@kernel
def new_node(mem: Handle, me: Word, kind: Word, words: Word, birth: Word) -> Word:
    """Allocate a node and write its header."""
    node = allocate(mem, me, words)
    poke(mem, node, (kind << _KIND_SHIFT) | (words << _SIZE_SHIFT) | birth)
    return node


@kernel
def kind_of(mem: Handle, node: Word) -> Word:
    return peek(mem, node) >> _KIND_SHIFT


@kernel
def gen_of(mem: Handle, node: Word) -> Word:
    """The generation a node was born in; for an I-node, the generation it belongs to."""
    return peek(mem, node) & _BIRTH_MASK


@kernel
def new_generation(mem: Handle) -> Word:
    """A generation nobody has used in this arena."""
    return fetch_add(mem, H_GENERATION, ONE) + ONE


@kernel
def new_inode(mem: Handle, me: Word, main: Word, gen: Word) -> Word:
    i = new_node(mem, me, I_NODE, I_WORDS, gen)
    poke(mem, i + MAIN, main)
    return i


@kernel
def new_tnode(mem: Handle, me: Word, snode: Word, gen: Word) -> Word:
    """The tomb of a single S-node. Once committed it stays: nothing is ever installed over it."""
    t = new_node(mem, me, T_NODE, T_WORDS, gen)
    poke(mem, t + PREV, NIL)
    poke(mem, t + TOMBED, snode)
    return t


@kernel
def new_cnode(mem: Handle, me: Word, bitmap: Word, slots: Word, gen: Word) -> Word:
    """A C-node with room for `slots` slots, left for the caller to fill."""
    c = new_node(mem, me, C_NODE, C_WORDS + slots, gen)
    poke(mem, c + PREV, NIL)
    poke(mem, c + BITMAP, bitmap)
    return c


@kernel
def slot_at(mem: Handle, c: Word, flag: Word) -> Word:
    """Offset of the word that holds the slot of `flag`, which must be set in the bitmap."""
    return c + SLOTS + position(peek(mem, c + BITMAP), flag)


@kernel
def slot_for(mem: Handle, c: Word, h: Word, level: Word) -> Word:
    """The slot a hash falls in, NIL when it is empty."""
    flag = flag_of(h, level)
    bitmap = peek(mem, c + BITMAP)
    if bitmap & flag == NIL:
        return NIL
    return peek(mem, c + SLOTS + position(bitmap, flag))


@kernel
def is_child(slot: Word) -> Flag:
    return slot & CHILD != NIL
