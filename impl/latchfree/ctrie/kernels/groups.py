"""Lookups of a group of keys that go down the trie together, so that the processor waits for memory once for all.

Example: a lookup in a map of a million keys reads five nodes, each far from the processor, and where one is tells only
the one before. 32 lookups, one after the other, wait 160 times. A group reads the first node of every key, then the
second of every key, and so on: in each pass the processor fetches 32 nodes at a time, and waits five times.

Each pass makes one step for every key that is on its way, and asks for the memory that the next pass reads. Where an
update is pending, or a tomb is met, the key leaves the group, and the ordinary lookup helps. A list says which keys are
on their way, so no branch depends on how deep a key lies.

Writes look up a group first, and then begin one by one, each in the last I-node that its key has come to: `came_to`.

Invariant: the lookups of a group do not depend on each other. Each makes the accesses of `lookup_undisturbed` in their
order. They share the first ones, the reads of the root and of its main, which come after the call has begun for all of
them. The caller is pinned until it has read what was found.
"""

import numpy as np

from latchfree.atomics import in_line, load, load_seq, peek, poke, prefetch_read
from latchfree.ctrie.kernels.elements import element
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    LAST_LEVEL,
    MAIN,
    NIL,
    ONE,
    PENDING,
    PREV,
    ROOT_WORD,
    SLOTS,
    STRIDE,
    UNTAG,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.snode import full_hash, placed, same_key
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Key, Word

#: Keys of a group.
GROUP = 32
#: Words that a group needs: five a key.
GROUP_WORDS = 160

# The words of a key, one array behind the other: the slot or main where the key has come to, its hash, and the last
# I-node that it went through, with the level of that. Then the keys that are on their way.
_HASHES = np.uint64(GROUP)
_INODES = np.uint64(2 * GROUP)
_LEVELS = np.uint64(3 * GROUP)
_MOVING = np.uint64(4 * GROUP)
#: The place of a key whose lookup has to help; no slot has this value.
_TO_HELP = UNTAG
_TAG_SHIFT = np.uint64(63)
_SLICE = (ONE << STRIDE) - ONE


@kernel
def _go_on(places: Word, moving: Word, g: Word, slot: Word) -> Word:
    """Add key `g` to those on their way if its slot is a child; return how many they are. No branch is to predict."""
    in_line()
    poke(places, _MOVING + moving, g)
    return moving + (slot >> _TAG_SHIFT)


@kernel
def _to_mains(mem: Handle, places: Word, moving: Word, level: Word) -> None:
    """Go from I-nodes, in slots, to their mains, with the `moving` keys that are on their way."""
    in_line()
    shift = min(level, LAST_LEVEL)  # an L-node hangs below the last level, and has no slots
    for k in range(moving):
        g = peek(places, _MOVING + np.uint64(k))
        i = peek(places, g) & UNTAG
        poke(places, _INODES + g, i)
        poke(places, _LEVELS + g, level)
        # spec: Ctrie!GcasReadMain -- orders as in gcas_read.
        m = load_seq(mem, i + MAIN)
        poke(places, g, m)
        prefetch_read(mem, m)
        # Where its slot would be if the node were full.
        prefetch_read(mem, m + SLOTS + ((peek(places, _HASHES + g) >> shift) & _SLICE))


@kernel
def _to_slots(mem: Handle, places: Word, moving: Word, level: Word) -> Word:
    """Go from mains to the slots of the keys; return how many keys are still on their way."""
    in_line()
    left = NIL
    for k in range(moving):
        g = peek(places, _MOVING + np.uint64(k))
        m = peek(places, g)
        slot = _TO_HELP
        # spec: Ctrie!GcasReadPrev -- as in gcas_read.
        if load(mem, m + PREV) == NIL and kind_of(mem, m) == C_NODE:
            slot = slot_for(mem, m, peek(places, _HASHES + g), level)
            prefetch_read(mem, slot & UNTAG)
        poke(places, g, slot)
        left = _go_on(places, left, g, slot)
    return left


@kernel
def _main_of_root(mem: Handle, trie: Word) -> Word:
    """Return the main of the root, a C-node; NIL where there is something to help with first."""
    # spec: Ctrie!RdcssRead
    root = load_seq(mem, trie + ROOT_WORD)
    if root & PENDING != NIL:
        return NIL
    # spec: Ctrie!GcasReadMain -- orders as in gcas_read.
    m = load_seq(mem, root + MAIN)
    # spec: Ctrie!GcasReadPrev -- as in gcas_read.
    return m if load(mem, m + PREV) == NIL else NIL


@kernel
def look_up_together(mem: Handle, trie: Word, keys: Array, first: Word, count: Word, places: Word) -> None:
    """Find the places of keys `first` to `first` + `count` of a column, at most `GROUP`; see `found_at` and `came_to`.

    `places` is the address of `GROUP_WORDS` words.
    """
    in_line()
    m = _main_of_root(mem, trie)
    moving = NIL
    for g in range(count):
        h = placed(mem, trie, full_hash(element(keys, first + np.uint64(g))))
        slot = slot_for(mem, m, h, NIL) if m != NIL else _TO_HELP
        prefetch_read(mem, slot & UNTAG)
        poke(places, np.uint64(g), slot)
        poke(places, _HASHES + np.uint64(g), h)
        poke(places, _INODES + np.uint64(g), NIL)
        moving = _go_on(places, moving, np.uint64(g), slot)
    level = STRIDE
    while moving != NIL:
        _to_mains(mem, places, moving, level)
        moving = _to_slots(mem, places, moving, level)
        level += STRIDE


@kernel
def came_to(places: Word, g: Word) -> tuple[Word, Word]:
    """Return the last I-node that key `g` of a group went through, and its level; NIL where that is the root."""
    in_line()
    return peek(places, _INODES + np.uint64(g)), peek(places, _LEVELS + np.uint64(g))


@kernel
def found_at(mem: Handle, trie: Word, me: Word, key: Key, place: Word) -> Word:
    """Return the S-node of `key`, or NIL, from the place that was found for the key."""
    in_line()
    if place == _TO_HELP:
        return lookup(mem, trie, me, key)
    return place if place != NIL and same_key(mem, place, key) else NIL
