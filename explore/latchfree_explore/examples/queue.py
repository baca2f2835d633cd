"""Michael and Scott's queue (PODC 1996), without reuse of nodes; and one that forgets to help a slow enqueuer.

A node is two words: value and next. The root holds head and tail; the head node is a dummy.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from latchfree.atomics import cas, load, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore import Operation, Target
from latchfree_model import get_model

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_NEXT = np.uint64(1)

_TAIL = np.uint64(1)
_ROOT = np.uint64(8)
_BUMPS = np.uint64(16)
_NODES = np.uint64(64)
_NODE_WORDS_EACH = np.uint64(64)

_EMPTY = -1


@kernel
def setup(mem: Handle, threads: Word) -> Word:
    """Make an empty queue, with nodes for each thread."""
    for thread in range(threads):
        poke(mem, _BUMPS + np.uint64(thread), _NODES + np.uint64(thread) * _NODE_WORDS_EACH)
    dummy = _NODES - _2
    poke(mem, _ROOT, dummy)
    poke(mem, _ROOT + _TAIL, dummy)
    return _ROOT


@kernel
def enqueue(mem: Handle, root: Word, thread: Word, value: Word) -> None:
    """Add a value at the tail."""
    node = peek(mem, _BUMPS + np.uint64(thread))
    poke(mem, _BUMPS + np.uint64(thread), node + _2)
    poke(mem, node, np.uint64(value))
    while True:
        tail = load(mem, root + _TAIL)
        after = load(mem, tail + _NEXT)
        if after != _0:
            cas(mem, root + _TAIL, tail, after)  # help whoever has linked a node and not moved the tail
        # LP: linking the node.
        elif cas(mem, tail + _NEXT, _0, node):
            cas(mem, root + _TAIL, tail, node)
            return


@kernel
def dequeue(mem: Handle, root: Word, thread: Word) -> Word:
    """Take a value from the head; return it, or _EMPTY."""
    while True:
        head = load(mem, root)
        tail = load(mem, root + _TAIL)
        after = load(mem, head + _NEXT)
        if head == tail:
            if after == _0:
                return _EMPTY
            cas(mem, root + _TAIL, tail, after)
        else:
            value = np.int64(peek(mem, after))
            # LP: the compare-and-swap that succeeds.
            if cas(mem, root, head, after):
                return value


@kernel
def hasty_dequeue(mem: Handle, root: Word, thread: Word) -> Word:
    """Take a value from the head by a plain store: two threads may take the same."""
    head = load(mem, root)
    after = load(mem, head + _NEXT)
    if after == _0:
        return _EMPTY
    value = np.int64(peek(mem, after))
    store(mem, root, after)  # wrong: another thread may have taken the same node
    return value


def _value(word: int) -> Hashable:
    return None if word == _EMPTY else word


def _nothing(word: int) -> Hashable:
    return None


QUEUE = Target(
    "queue",
    get_model("queue"),
    {"enqueue": Operation(enqueue, _nothing), "dequeue": Operation(dequeue, _value)},
    setup=setup,
)
HASTY = Target(
    "hasty_queue",
    get_model("queue"),
    {"enqueue": Operation(enqueue, _nothing), "dequeue": Operation(hasty_dequeue, _value)},
    setup=setup,
)
