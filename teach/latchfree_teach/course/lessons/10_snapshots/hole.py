"""Lesson 10: a map with snapshots. Replace the bodies of `commit` and `put`."""

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, exchange, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import get_model

NIL = np.uint64(0)  # in the word `prev` of a node: the node stands
ONE = np.uint64(1)
FAILED = np.uint64(1 << 32)  # a `prev` with this bit: the node has failed, and what was before it stands

ROOT = np.uint64(8)  # the word that says which I-node is the root
PENDING = np.uint64(1 << 33)  # a root with this bit is about to be changed
UNDECIDED = np.uint64(0)
COMMITTED = np.uint64(1)
ABORTED = np.uint64(2)
BEFORE = np.uint64(1)  # an I-node has three words: what it holds, the root before it, and what became of the change
STATUS = np.uint64(2)
BUMPS = np.uint64(16)
NODES = np.uint64(64)
WORDS_EACH = np.uint64(128)


@kernel
def setup(mem, threads):
    """Give each thread room for nodes; the root I-node holds a node without any value."""
    for thread in range(threads):
        poke(mem, BUMPS + np.uint64(thread), NODES + np.uint64(thread) * WORDS_EACH)
    poke(mem, ROOT, np.uint64(48))
    poke(mem, np.uint64(48), np.uint64(52))
    return ROOT


@kernel
def prev_of(mem, node):
    """Return the `prev` of a node: NIL, the node before it, or that one with FAILED."""
    return load(mem, node)


@kernel
def is_failed(prev):
    """Return whether a `prev` says that its node has failed."""
    return prev & FAILED != NIL


@kernel
def before(prev):
    """Return the node before, from a `prev`."""
    return prev & ~FAILED


@kernel
def value_in(mem, node, key):
    """Return the value of key 0 or 1 in a node, 0 if there is none."""
    return np.int64(load(mem, node + ONE + np.uint64(key)))


@kernel
def new_words(mem, thread, count):
    """Return room for so many words, never used before."""
    at = peek(mem, BUMPS + np.uint64(thread))
    poke(mem, BUMPS + np.uint64(thread), at + np.uint64(count))
    return at


@kernel
def copy(mem, thread, node, key, value):
    """Return a new node, a copy with one value changed; its `prev` is the node copied, so it is undecided."""
    made = new_words(mem, thread, 3)
    poke(mem, made, node)
    for k in range(2):
        poke(mem, made + ONE + np.uint64(k), np.uint64(value_in(mem, node, k)))
    poke(mem, made + ONE + np.uint64(key), np.uint64(value))
    return made


@kernel
def finish(mem, inode):
    """Make an I-node the root if its change was committed; put the root before back if it was aborted."""
    after = inode
    if load(mem, inode + STATUS) == ABORTED:
        after = peek(mem, inode + BEFORE)
    cas(mem, ROOT, PENDING | inode, after)


@kernel
def root_of(mem):
    """Return the root I-node; a snapshot that has not decided yet is aborted, and will try again."""
    word = load(mem, ROOT)
    if word & PENDING == NIL:
        return word
    inode = word & ~PENDING
    cas(mem, inode + STATUS, UNDECIDED, ABORTED)
    finish(mem, inode)
    return peek(mem, inode + BEFORE) if load(mem, inode + STATUS) == ABORTED else inode


@kernel
def commit(mem, inode, node):
    """Decide whether a node that an I-node holds stands; return the node that stands there."""
    return node


@kernel
def put(mem, root, thread, key, value):
    """Store a value under key 0 or 1."""
    inode = root_of(mem)
    store(mem, inode, copy(mem, thread, load(mem, inode), key, value))


@kernel
def main_of(mem, inode):
    """Return the node that stands in an I-node, decided if it was not."""
    node = load(mem, inode)
    return node if prev_of(mem, node) == NIL else commit(mem, inode, node)


@kernel
def get(mem, root, thread, key):
    """Return the value of a key, 0 if there is none."""
    return value_in(mem, main_of(mem, root_of(mem)), key)


@kernel
def freeze(mem, thread):
    """Put another root in place; return the root before, in which nothing may change from now on."""
    while True:
        inode = root_of(mem)
        main = main_of(mem, inode)
        made = new_words(mem, thread, 3)
        poke(mem, made, main)
        poke(mem, made + BEFORE, inode)
        if cas(mem, ROOT, inode, PENDING | made):
            same = main_of(mem, inode) == main
            cas(mem, made + STATUS, UNDECIDED, COMMITTED if same else ABORTED)
            finish(mem, made)
            if load(mem, made + STATUS) == COMMITTED:
                return inode


@kernel
def snapshot(mem, root, thread):
    """Return the values of both keys at one instant; they are read one after the other."""
    inode = freeze(mem, thread)
    first = value_in(mem, main_of(mem, inode), 0)
    return first * 16 + value_in(mem, main_of(mem, inode), 1)


class SnapshotMap(type(get_model("map"))):
    """A map whose `put` says nothing."""

    silent = frozenset({"put"})


def nothing(word):
    """Say that an operation returns nothing."""
    return


def value_or_none(word):
    """Return a value, or None for 0."""
    return word or None


def pairs(word):
    """Return keys and values."""
    return tuple((key, value) for key, value in enumerate((word // 16, word % 16)) if value)


SNAPSHOTS = Target(
    "snapshots",
    SnapshotMap(),
    {
        "put": Operation(put, nothing),
        "get": Operation(get, value_or_none),
        "snapshot": Operation(snapshot, pairs),
    },
    setup=setup,
)
