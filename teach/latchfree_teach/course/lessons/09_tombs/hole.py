"""Lesson 9: a trie that shrinks. Replace the bodies of `remove` and `clean`."""

from types import MappingProxyType

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import Call, get_model

NOTHING = np.uint64(0)  # an empty slot
ONE = np.uint64(1)
CHILD = np.uint64(1 << 32)  # a slot with this bit holds the number of an I-node
ENTRY = np.uint64(1 << 33)  # a slot with this bit holds a key and a value
TOMB = np.uint64(1 << 34)  # an I-node with this bit is a tomb: it holds what is left, and changes no more

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
def holds(slot, key):
    """Return whether a slot is the entry of a key."""
    return slot & ENTRY != NOTHING and np.int64(slot >> EIGHT & LOW) == key


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
def tomb(slot):
    """Return what an I-node holds once it is a tomb with this slot, an entry or NOTHING, in it."""
    return TOMB | slot


@kernel
def is_tomb(main):
    """Return whether what an I-node holds is a tomb."""
    return main & TOMB != NOTHING


@kernel
def left_in(main):
    """Return the slot in a tomb."""
    return main & ~TOMB


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
    poke(mem, cnode + digit(np.int64(other >> EIGHT & LOW), 1), other)
    poke(mem, cnode + digit(key, 1), entry(key, value))
    return CHILD | inode


@kernel
def clean(mem, root, thread, key):
    """Replace the child of the root that the key belongs to by what is left in it, if the child is a tomb."""
    return


@kernel
def remove(mem, root, thread, key):
    """Remove a key and return its value, -1 if there is none."""
    return -1


@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    while True:
        cnode = load(mem, root)
        k = digit(key, 0)
        held = slot_of(mem, cnode, k)
        if is_child(held):
            inode = inode_of(held)
            main = load(mem, inode)
            if is_tomb(main):
                clean(mem, root, thread, key)
            elif cas(mem, inode, main, copy(mem, thread, main, digit(key, 1), entry(key, value))):
                return
        elif held == NOTHING or holds(held, key):
            if cas(mem, root, cnode, copy(mem, thread, cnode, k, entry(key, value))):
                return
        elif cas(mem, root, cnode, copy(mem, thread, cnode, k, below(mem, thread, held, key, value))):
            return


@kernel
def get(mem, root, thread, key):
    """Return the value of a key, -1 if there is none."""
    held = slot_of(mem, load(mem, root), digit(key, 0))
    if is_child(held):
        main = load(mem, inode_of(held))
        held = left_in(main) if is_tomb(main) else slot_of(mem, main, digit(key, 1))
    return value_of(held) if holds(held, key) else -1


@kernel
def thin(mem, root, thread):
    """Return how many children of the root have less than two entries, or are tombs."""
    found = 0
    cnode = load(mem, root)
    for k in range(2):
        held = slot_of(mem, cnode, np.uint64(k))
        if is_child(held):
            main = load(mem, inode_of(held))
            if is_tomb(main) or load(mem, main) == NOTHING or load(mem, main + ONE) == NOTHING:
                found += 1
    return found


class ShrinkingMap(type(get_model("map"))):
    """A map whose `put` says nothing, and which, left alone, has no child with less than two entries."""

    silent = frozenset({"put"})
    operations = MappingProxyType({**get_model("map").operations, "thin": 0})

    def apply(self, state, call):
        """Return the result that a call must have, and the next state."""
        return (0, state) if call.f == "thin" else super().apply(state, call)

    def reason(self, state, call):
        """Return why a call must return what it must."""
        if call.f == "thin":
            return "a child of the root must have two entries when all threads have ended"
        return super().reason(state, call)

    def partition(self, call: Call):
        """Return the key that a call touches, None for the whole map."""
        return None if call.f == "thin" else super().partition(call)


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, or None for -1."""
    return None if word == -1 else word


TRIE = Target(
    "shrinking-trie",
    ShrinkingMap(),
    {
        "put": Operation(put, nothing),
        "get": Operation(get, value_or_none),
        "remove": Operation(remove, value_or_none),
        "thin": Operation(thin),
    },
    setup=setup,
)
