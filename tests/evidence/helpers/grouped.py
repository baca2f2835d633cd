"""Calls on columns of one key, in place of those of the explored map for one key. And wrong parts of them."""

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.border.objects import room
from latchfree.ctrie.kernels.groups import GROUP, GROUP_WORDS, came_to, found_at, look_up_together
from latchfree.ctrie.kernels.insert import insert_near
from latchfree.ctrie.kernels.nodes import NIL, STRIDE, slot_for
from latchfree.ctrie.kernels.remove import remove_near
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Value, Word

_MOVING = np.uint64(4 * GROUP)


@kernel
def lookup(mem: Handle, trie: Word, me: Word, key: Key) -> Word:
    """Return as `latchfree.ctrie.kernels.lookup.lookup`."""
    places = room(GROUP_WORDS)
    look_up_together(mem, trie, (key,), 0, 1, places)
    return found_at(mem, trie, me, key, peek(places, np.uint64(0)))


@kernel
def insert(mem: Handle, trie: Word, me: Word, key: Key, value: Value, mode: Word, expected: Word) -> Word:
    """Return as `latchfree.ctrie.kernels.insert.insert`."""
    places = room(GROUP_WORDS)
    look_up_together(mem, trie, (key,), 0, 1, places)
    near, level = came_to(places, 0)
    return insert_near(mem, trie, me, key, value, mode, expected, near, level)


@kernel
def remove(mem: Handle, trie: Word, me: Word, key: Key, mode: Word, expected: Word) -> Word:
    """Return as `latchfree.ctrie.kernels.remove.remove`."""
    places = room(GROUP_WORDS)
    look_up_together(mem, trie, (key,), 0, 1, places)
    near, level = came_to(places, 0)
    return remove_near(mem, trie, me, key, mode, expected, near, level)


@kernel
def any_main(mem: Handle, places: Word, moving: Word, level: Word) -> Word:
    """Go from mains to slots without a look at whether the mains are committed: in place of `_to_slots`."""
    for k in range(moving):
        g = peek(places, _MOVING + np.uint64(k))
        poke(places, g, slot_for(mem, peek(places, g), peek(places, np.uint64(GROUP) + g), level))
    return NIL


@kernel
def too_high(places: Word, g: Word) -> tuple[Word, Word]:
    """Return the I-node of a key with the level of that above it: in place of `came_to`."""
    return peek(places, np.uint64(2 * GROUP)), peek(places, np.uint64(3 * GROUP)) - STRIDE
