"""Lesson 11: when may a node be freed? Replace the bodies of `read` and `write`."""

from types import MappingProxyType

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import Call, get_model

ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
POINTER = np.uint64(8)  # the word that says which node holds the value
EPOCH = np.uint64(9)  # the epoch that all threads share; it begins with 2
PINS = np.uint64(16)  # a word for each thread: NOT_PINNED, or the epoch that it has seen
NOT_PINNED = np.uint64(0)
POISON = np.uint64(99)  # what a freed node holds

COUNT = np.uint64(10)
TWICE = np.uint64(11)
BUMPS = np.uint64(24)
LIMBO = np.uint64(32)  # for each thread a number of nodes, the nodes, and the epochs in which they were retired
LIMBO_EACH = np.uint64(32)
MOST = np.uint64(15)
FIRST_TAG = np.uint64(16)
NODES = np.uint64(512)
WORDS_EACH = np.uint64(32)
VALUES = np.uint64(1536)  # so many words after a node: the value that it was made with


@kernel
def setup(mem, threads):
    """Make a node that holds 0, and room for the nodes of each thread."""
    for thread in range(threads):
        poke(mem, BUMPS + np.uint64(thread), NODES + np.uint64(thread) * WORDS_EACH)
    poke(mem, POINTER, NODES - ONE)
    poke(mem, EPOCH, TWO)
    poke(mem, COUNT, np.uint64(threads))
    return POINTER


@kernel
def new_node(mem, thread, value):
    """Return a node with a value in it. (A node is one word. Freed nodes are poisoned, and not used again.)"""
    at = peek(mem, BUMPS + np.uint64(thread))
    poke(mem, BUMPS + np.uint64(thread), at + ONE)
    poke(mem, at, np.uint64(value))
    poke(mem, at + VALUES, np.uint64(value))
    return at


@kernel
def retire(mem, thread, node, epoch):
    """Put a node into the limbo of this thread, with the epoch in which it was unlinked."""
    limbo = LIMBO + np.uint64(thread) * LIMBO_EACH
    count = peek(mem, limbo)
    if count < MOST:
        poke(mem, limbo + ONE + count, node)
        poke(mem, limbo + FIRST_TAG + count, epoch)
        poke(mem, limbo, count + ONE)


@kernel
def free_until(mem, thread, epoch):
    """Free all nodes in the limbo of this thread that were retired in an epoch up to this one."""
    limbo = LIMBO + np.uint64(thread) * LIMBO_EACH
    count = peek(mem, limbo)
    kept = ZERO
    for k in range(count):
        at = np.uint64(k)
        node = peek(mem, limbo + ONE + at)
        tag = peek(mem, limbo + FIRST_TAG + at)
        if tag <= epoch:
            if exchange(mem, node, POISON) == POISON:
                store(mem, TWICE, ONE)
        else:
            poke(mem, limbo + ONE + kept, node)
            poke(mem, limbo + FIRST_TAG + kept, tag)
            kept += ONE
    poke(mem, limbo, kept)


@kernel
def try_advance(mem):
    """Raise the epoch by one, if every pinned thread has seen the epoch that there is."""
    epoch = load(mem, EPOCH)
    for thread in range(peek(mem, COUNT)):
        pin = load(mem, PINS + np.uint64(thread))
        if pin not in (NOT_PINNED, epoch):
            return
    cas(mem, EPOCH, epoch, epoch + ONE)


@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says."""
    return load(mem, load(mem, POINTER))


@kernel
def write(mem, root, thread, value):
    """Put a new node in place of the one that POINTER says, and have the old one freed when nobody can see it."""
    old = exchange(mem, POINTER, new_node(mem, thread, value))
    store(mem, old, POISON)


@kernel
def advance(mem, root, thread):
    """Try to raise the epoch, as somebody does who writes elsewhere."""
    try_advance(mem)


@kernel
def sound(mem, root, thread):
    """Return 0, or 1 if a node was freed twice, 2 if many are in limbo, 3 if one was lost, 4 if one was changed."""
    waiting = ZERO
    freed = ZERO
    made = ZERO
    for other in range(peek(mem, COUNT)):
        waiting += peek(mem, LIMBO + np.uint64(other) * LIMBO_EACH)
        first = NODES + np.uint64(other) * WORDS_EACH - np.uint64(other == 0)  # before them, the node of the beginning
        for at in range(first, peek(mem, BUMPS + np.uint64(other))):
            held = peek(mem, np.uint64(at))
            if held == POISON:
                freed += ONE
            elif held != peek(mem, np.uint64(at) + VALUES):
                return np.uint64(4)
            made += ONE
    if peek(mem, TWICE) != ZERO or waiting + freed >= made:
        return ONE
    if waiting > np.uint64(4):
        return TWO
    return np.uint64(3) if waiting + freed + ONE < made else ZERO


class ReclaimedRegister(type(get_model("register"))):
    """A register whose nodes are never changed, and are freed once, and soon."""

    operations = MappingProxyType({**get_model("register").operations, "sound": 0, "advance": 0})

    def apply(self, state, call: Call):
        """Return the result that a call must have, and the next state."""
        answers = {"sound": "sound", "advance": None}
        return (answers[call.f], state) if call.f in answers else super().apply(state, call)

    def reason(self, state, call: Call):
        """Return why a call must return what it must."""
        if call.f == "sound":
            return "a node must be in use, in limbo or freed, once, as it was made, and few in limbo"
        freed = call.f == "read" and call.result == int(POISON)
        return super().reason(state, call) + (", and a freed node holds 99" if freed else "")


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, None for the 0 at the beginning."""
    return word or None


def soundness(word):
    """Return what a word of `sound` says."""
    return ("sound", "freed twice", "nodes pile up", "a node was lost", "a node was changed in place")[word]


REGISTER = Target(
    "reclaimed-register",
    ReclaimedRegister(),
    {
        "read": Operation(read, value_or_none),
        "write": Operation(write, nothing),
        "sound": Operation(sound, soundness),
        "advance": Operation(advance, nothing),
    },
    setup=setup,
)
