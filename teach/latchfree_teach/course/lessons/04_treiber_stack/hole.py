"""Lesson 4: a stack whose nodes are used again. Replace the bodies of `push` and `pop`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import get_model

HEAD = np.uint64(1)  # the word that says which node is on top
NEXT = np.uint64(1)  # a node is two words: its value, and the node below
NIL = np.uint64(0)  # no node
OFFSET = np.uint64((1 << 32) - 1)  # the lower half of a word
VERSION = np.uint64(1 << 32)  # one, in the upper half
EMPTY = -1

FREE = np.uint64(8)
NODES = np.uint64(32)
NODES_EACH = 6


@kernel
def setup(mem, threads):
    """Give each thread some nodes of its own."""
    node = NODES
    for thread in range(threads):
        for _ in range(NODES_EACH):
            poke(mem, node + NEXT, peek(mem, FREE + np.uint64(thread)))
            poke(mem, FREE + np.uint64(thread), node)
            node += np.uint64(2)
    return HEAD


@kernel
def take(mem, thread, value):
    """Return a free node of this thread, with a value in it."""
    node = peek(mem, FREE + np.uint64(thread))
    poke(mem, FREE + np.uint64(thread), peek(mem, node + NEXT))
    poke(mem, node, np.uint64(value))
    return node


@kernel
def value_of(mem, node):
    """Return the value in a node."""
    return np.int64(peek(mem, node))


@kernel
def give(mem, thread, node):
    """Make a node free; this thread will use it again."""
    store(mem, node + NEXT, peek(mem, FREE + np.uint64(thread)))
    poke(mem, FREE + np.uint64(thread), node)


@kernel
def push(mem, root, thread, value):
    """Put a value on top."""
    node = take(mem, thread, value)
    store(mem, node + NEXT, load(mem, HEAD) & OFFSET)
    store(mem, HEAD, node)


@kernel
def pop(mem, root, thread):
    """Take the value on top and return it; return EMPTY if there is none."""
    return EMPTY


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, or None for EMPTY."""
    return None if word == EMPTY else word


STACK = Target(
    "stack",
    get_model("stack"),
    {"push": Operation(push, nothing), "pop": Operation(pop, value_or_none)},
    setup=setup,
)
