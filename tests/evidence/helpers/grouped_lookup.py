"""Lookups as bulk calls make them, in place of those of the explored map: a group of one key. And a wrong one."""

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.border.objects import room
from latchfree.ctrie.kernels.groups import GROUP, GROUP_WORDS, found_at, look_up_together
from latchfree.ctrie.kernels.nodes import UNTAG, is_child, slot_for
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word


@kernel
def lookup(mem: Handle, trie: Word, me: Word, key: Key) -> Word:
    """Return as `latchfree.ctrie.kernels.lookup.lookup`."""
    places = room(GROUP_WORDS)
    look_up_together(mem, trie, (key,), 0, 1, places)
    return found_at(mem, trie, me, key, peek(places, np.uint64(0)))


@kernel
def careless(mem: Handle, places: Word, count: Word, level: Word) -> None:
    """Go from mains to slots without a look at whether the mains are committed."""
    for g in range(count):
        place = peek(places, np.uint64(g))
        if is_child(place):
            h = peek(places, np.uint64(GROUP) + np.uint64(g))
            poke(places, np.uint64(g), slot_for(mem, place & UNTAG, h, level))
