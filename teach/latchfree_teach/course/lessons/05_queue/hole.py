"""Lesson 5: a queue of two words. Replace the bodies of `enqueue` and `dequeue`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import get_model

HEAD = np.uint64(8)  # the word that says which node was taken last
TAIL = np.uint64(9)  # the word that says which node is the last one, or the one before it
NEXT = np.uint64(1)  # a node is two words: its value, and the node behind
NIL = np.uint64(0)  # no node
EMPTY = -1

BUMPS = np.uint64(16)
NODES = np.uint64(64)
NODE_WORDS_EACH = np.uint64(64)


@kernel
def setup(mem, threads):
    """Give each thread room for nodes; the queue has one node, whose value nobody will take."""
    for thread in range(threads):
        poke(mem, BUMPS + np.uint64(thread), NODES + np.uint64(thread) * NODE_WORDS_EACH)
    first = NODES - np.uint64(2)
    poke(mem, HEAD, first)
    poke(mem, TAIL, first)
    return HEAD


@kernel
def new_node(mem, thread, value):
    """Return a node that was never used, with a value in it and no node behind."""
    node = peek(mem, BUMPS + np.uint64(thread))
    poke(mem, BUMPS + np.uint64(thread), node + np.uint64(2))
    poke(mem, node, np.uint64(value))
    return node


@kernel
def value_of(mem, node):
    """Return the value in a node."""
    return np.int64(peek(mem, node))


@kernel
def enqueue(mem, root, thread, value):
    """Put a value at the end."""
    node = new_node(mem, thread, value)
    tail = load(mem, TAIL)
    store(mem, tail + NEXT, node)
    store(mem, TAIL, node)


@kernel
def dequeue(mem, root, thread):
    """Take the oldest value and return it; return EMPTY if there is none."""
    return EMPTY


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, or None for EMPTY."""
    return None if word == EMPTY else word


QUEUE = Target(
    "queue",
    get_model("queue"),
    {"enqueue": Operation(enqueue, nothing), "dequeue": Operation(dequeue, value_or_none)},
    setup=setup,
)
