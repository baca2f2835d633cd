"""Lookups of a group of keys that go down the trie together, so that the processor waits for memory once for all.

Example: a lookup in a map of a million keys reads five nodes, each far from the processor, and where one is tells only
the one before. 32 lookups, one after the other, wait 160 times. A group reads the first node of every key, then the
second of every key, and so on: in each pass the processor fetches 32 nodes at a time, and waits five times.

Each pass makes one step for every key that is on its way, and asks for the memory that the next pass reads. Where an
update is pending, or a tomb is met, the key leaves the group, and the ordinary lookup helps.

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
    CHILD,
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
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.snode import full_hash, placed, same_key
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Key, Word

#: Keys of a group.
GROUP = 32
#: Words that a group needs: the place where each key has come to, and the hash of each.
GROUP_WORDS = 64

_HASHES = np.uint64(GROUP)
#: The place of a key whose lookup has to help; no slot has this value.
_TO_HELP = UNTAG
_SLICE = (ONE << STRIDE) - ONE


@kernel
def _to_mains(mem: Handle, places: Word, count: Word, level: Word) -> Word:
    """Go from I-nodes, in slots, to their mains; return how many keys are on their way."""
    in_line()
    shift = min(level, LAST_LEVEL)  # an L-node hangs below the last level, and has no slots
    moving = 0
    for g in range(count):
        place = peek(places, np.uint64(g))
        if is_child(place):
            # spec: Ctrie!GcasReadMain -- orders as in gcas_read.
            m = load_seq(mem, (place & UNTAG) + MAIN)
            poke(places, np.uint64(g), m | CHILD)
            prefetch_read(mem, m)
            # Where its slot would be if the node were full.
            prefetch_read(mem, m + SLOTS + ((peek(places, _HASHES + np.uint64(g)) >> shift) & _SLICE))
            moving += 1
    return moving


@kernel
def _to_slots(mem: Handle, places: Word, count: Word, level: Word) -> None:
    """Go from mains to the slots of the keys."""
    in_line()
    for g in range(count):
        place = peek(places, np.uint64(g))
        if is_child(place):
            m = place & UNTAG
            slot = _TO_HELP
            # spec: Ctrie!GcasReadPrev -- as in gcas_read.
            if load(mem, m + PREV) == NIL and kind_of(mem, m) == C_NODE:
                slot = slot_for(mem, m, peek(places, _HASHES + np.uint64(g)), level)
                prefetch_read(mem, slot & UNTAG)
            poke(places, np.uint64(g), slot)


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
    """Find the places of keys `first` to `first` + `count` of a column, at most `GROUP`; see `found_at`.

    `places` is the address of `GROUP_WORDS` words.
    """
    in_line()
    m = _main_of_root(mem, trie)
    for g in range(count):
        h = placed(mem, trie, full_hash(element(keys, first + np.uint64(g))))
        slot = slot_for(mem, m, h, NIL) if m != NIL else _TO_HELP
        prefetch_read(mem, slot & UNTAG)
        poke(places, np.uint64(g), slot)
        poke(places, _HASHES + np.uint64(g), h)
    level = STRIDE
    while _to_mains(mem, places, count, level):
        _to_slots(mem, places, count, level)
        level += STRIDE


@kernel
def found_at(mem: Handle, trie: Word, me: Word, key: Key, place: Word) -> Word:
    """Return the S-node of `key`, or NIL, from the place that was found for the key."""
    in_line()
    if place == _TO_HELP:
        return lookup(mem, trie, me, key)
    return place if place != NIL and same_key(mem, place, key) else NIL
