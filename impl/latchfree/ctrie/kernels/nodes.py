"""Making and reading the nodes of a Ctrie; their shapes are described in `latchfree.ctrie.kernels.shape`."""

import numpy as np

from latchfree.arena.kernels.allocator import allocate
from latchfree.arena.kernels.node import gen_of, header, kind_of
from latchfree.arena.layout import H_GENERATION
from latchfree.atomics import fetch_add, load, peek, poke
from latchfree.ctrie.kernels.shape import (
    BITMAP,
    C_NODE,
    C_WORDS,
    CHILD,
    COUNT,
    ENTRIES,
    FAILED,
    HASH_MASK,
    I_NODE,
    I_WORDS,
    L_NODE,
    L_WORDS,
    MAIN,
    PAIR,
    PENDING,
    PREV,
    RDCSS,
    ROOT,
    ROOT_WORD,
    ROOT_WORDS,
    S_NODE,
    SLOTS,
    T_NODE,
    T_WORDS,
    TOMBED,
    UNTAG,
)
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.words import flag_of, position

__all__ = [
    "BITMAP", "CHILD", "COUNT", "C_NODE", "ENTRIES", "FAILED", "HASH_MASK", "I_NODE", "LAST_GENERATION", "LAST_LEVEL",
    "L_NODE", "L_WORDS", "MAIN", "NIL", "ONE", "PAIR", "PENDING", "PREV", "RDCSS", "ROOT", "ROOT_WORD", "ROOT_WORDS",
    "SLOTS", "STRIDE", "S_NODE", "TOMBED", "T_NODE", "UNTAG", "gen_of", "is_child", "kind_of", "new_cnode",
    "new_generation", "new_inode", "new_node", "new_tnode", "slot_at", "slot_for",
]  # fmt: skip

NIL = np.uint64(0)
ONE = np.uint64(1)

#: Hash bits a level consumes; the slice of level 60 has four bits, and an L-node hangs at 66.
STRIDE = np.uint64(6)
LAST_LEVEL = np.uint64(60)

#: A header has 40 bits for a generation. Participants who look at the counter together pass this limit a little.
LAST_GENERATION = np.uint64((1 << 40) - 1024)


@kernel
def new_node(mem: Handle, me: Word, kind: Word, words: Word, birth: Word) -> Word:
    """Allocate a node and write its header; return NIL if memory has run out and the node is a large one."""
    node = allocate(mem, me, words)
    if node != NIL:
        poke(mem, node, header(kind, words, birth))
    return node


@kernel
def new_generation(mem: Handle) -> Word:
    """Return a generation that nobody has used in this arena; NIL if there are none left."""
    # spec: none -- a fresh generation is private to whoever took it; the specification picks one without a step.
    if load(mem, H_GENERATION) >= LAST_GENERATION:
        return NIL
    # spec: none -- as above.
    return fetch_add(mem, H_GENERATION, ONE) + ONE


@kernel
def new_inode(mem: Handle, me: Word, main: Word, gen: Word) -> Word:
    """Return a new I-node with that main."""
    i = new_node(mem, me, I_NODE, I_WORDS, gen)
    poke(mem, i + MAIN, main)
    return i


@kernel
def new_tnode(mem: Handle, me: Word, snode: Word, gen: Word) -> Word:
    """Return a new tomb of a single S-node. A committed tomb stays: nothing is ever installed over it."""
    t = new_node(mem, me, T_NODE, T_WORDS, gen)
    poke(mem, t + PREV, NIL)
    poke(mem, t + TOMBED, snode)
    return t


@kernel
def new_cnode(mem: Handle, me: Word, bitmap: Word, slots: Word, gen: Word) -> Word:
    """Return a new C-node with room for `slots` slots, for the caller to fill."""
    c = new_node(mem, me, C_NODE, C_WORDS + slots, gen)
    poke(mem, c + PREV, NIL)
    poke(mem, c + BITMAP, bitmap)
    return c


@kernel
def slot_at(mem: Handle, c: Word, flag: Word) -> Word:
    """Return the offset of the word that holds the slot of `flag`, which must be set in the bitmap."""
    return c + SLOTS + position(peek(mem, c + BITMAP), flag)


@kernel
def slot_for(mem: Handle, c: Word, h: Word, level: Word) -> Word:
    """Return the slot that a hash falls in, NIL when it is empty."""
    flag = flag_of(h, level)
    bitmap = peek(mem, c + BITMAP)
    if bitmap & flag == NIL:
        return NIL
    return peek(mem, c + SLOTS + position(bitmap, flag))


@kernel
def is_child(slot: Word) -> Flag:
    """Return whether a slot leads to an I-node."""
    return slot & CHILD != NIL
