"""Lesson 8: a trie that shares. Replace the body of `put`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import get_model

NOTHING = np.uint64(0)  # an empty slot
ONE = np.uint64(1)
CHILD = np.uint64(1 << 32)  # a slot with this bit holds the number of an I-node
ENTRY = np.uint64(1 << 33)  # a slot with this bit holds a key and a value

ROOT = np.uint64(8)  # the I-node at the top
BUMPS = np.uint64(16)
NODES = np.uint64(64)
WORDS_EACH = np.uint64(128)
LOW = np.uint64(255)
EIGHT = np.uint64(8)


@kernel
def setup(mem, threads):
    """Give each thread room for nodes; the root has an empty C-node."""
    for thread in range(threads):
        poke(mem, BUMPS + np.uint64(thread), NODES + np.uint64(thread) * WORDS_EACH)
    poke(mem, ROOT, NODES - np.uint64(2))
    return ROOT


@kernel
def digit(key, level):
    """Return which slot of a C-node a key belongs to: at level 0 its last bit, at level 1 the one before."""
    return (np.uint64(key) >> np.uint64(level)) & ONE


@kernel
def entry(key, value):
    """Return a slot that holds a key and a value."""
    return ENTRY | np.uint64(key) << EIGHT | np.uint64(value)


@kernel
def key_of(slot):
    """Return the key in a slot."""
    return np.int64(slot >> EIGHT & LOW)


@kernel
def value_of(slot):
    """Return the value in a slot."""
    return np.int64(slot & LOW)


@kernel
def is_child(slot):
    """Return whether a slot leads to an I-node."""
    return slot & CHILD != NOTHING


@kernel
def inode_of(slot):
    """Return the I-node that a slot leads to."""
    return slot & ~CHILD


@kernel
def slot_of(mem, cnode, k):
    """Return slot `k` of a C-node."""
    return load(mem, cnode + k)


@kernel
def new_words(mem, thread, count):
    """Return room for so many words, never used before."""
    at = peek(mem, BUMPS + np.uint64(thread))
    poke(mem, BUMPS + np.uint64(thread), at + np.uint64(count))
    return at


@kernel
def copy(mem, thread, cnode, k, slot):
    """Return a new C-node: a copy of another one, but with `slot` as its slot `k`."""
    made = new_words(mem, thread, 2)
    poke(mem, made + (ONE - k), load(mem, cnode + (ONE - k)))
    poke(mem, made + k, slot)
    return made


@kernel
def below(mem, thread, other, key, value):
    """Return a slot with a new I-node at level 1, whose C-node holds the entry `other`, and a key with its value."""
    inode = new_words(mem, thread, 3)
    cnode = inode + ONE
    poke(mem, inode, cnode)
    poke(mem, cnode + digit(key_of(other), 1), other)
    poke(mem, cnode + digit(key, 1), entry(key, value))
    return CHILD | inode


@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    cnode = load(mem, root)
    store(mem, cnode + digit(key, 0), entry(key, value))


@kernel
def get(mem, root, thread, key):
    """Return the value of a key, -1 if there is none."""
    inode, level = root, 0
    while True:
        cnode = load(mem, inode)
        found = slot_of(mem, cnode, digit(key, level))
        if not is_child(found):
            return value_of(found) if found != NOTHING and key_of(found) == key else -1
        inode = inode_of(found)
        level += 1


class LessonMap(type(get_model("map"))):
    """A map whose `put` says nothing."""

    silent = frozenset({"put"})


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, or None for -1."""
    return None if word == -1 else word


TRIE = Target(
    "trie",
    LessonMap(),
    {"put": Operation(put, nothing), "get": Operation(get, value_or_none)},
    setup=setup,
)
