"""Treiber's stack, with nodes that are used again; and the ABA problem when the head carries no version.

A node is two words: value and next. Each thread has some nodes of its own to start with, on a private free list;
a popped node goes to the free list of the thread that popped it. The head holds an offset in its lower 32 bits and,
in the right version, a count of changes above.
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
_OFFSET = np.uint64((1 << 32) - 1)
_VERSION = np.uint64(1 << 32)
_NEXT = np.uint64(1)

_HEAD = np.uint64(1)
_FREE_LISTS = np.uint64(8)
_NODES = np.uint64(32)
_NODES_EACH = np.uint64(6)

_EMPTY = -1


@kernel
def setup(mem: Handle, threads: Word) -> Word:
    """Make an empty stack, with nodes for each thread."""
    node = _NODES
    for thread in range(threads):
        for _ in range(_NODES_EACH):
            poke(mem, node + _NEXT, peek(mem, _FREE_LISTS + np.uint64(thread)))
            poke(mem, _FREE_LISTS + np.uint64(thread), node)
            node += _NEXT + _1
    return _HEAD


@kernel
def _take(mem: Handle, thread: Word) -> Word:
    node = peek(mem, _FREE_LISTS + np.uint64(thread))
    poke(mem, _FREE_LISTS + np.uint64(thread), peek(mem, node + _NEXT))
    return node


@kernel
def _give(mem: Handle, thread: Word, node: Word) -> None:
    # Atomic, for a slow popper may still read the link of this node.
    store(mem, node + _NEXT, peek(mem, _FREE_LISTS + np.uint64(thread)))
    poke(mem, _FREE_LISTS + np.uint64(thread), node)


@kernel
def _push(mem: Handle, head: Word, thread: Word, value: Word, version: Word) -> None:
    node = _take(mem, thread)
    poke(mem, node, np.uint64(value))
    while True:
        old = load(mem, head)
        # Atomic, as in _give.
        store(mem, node + _NEXT, old & _OFFSET)
        # LP: the compare-and-swap that succeeds.
        if cas(mem, head, old, node | ((old & ~_OFFSET) + version)):
            return


@kernel
def _pop(mem: Handle, head: Word, thread: Word, version: Word) -> Word:
    while True:
        old = load(mem, head)
        node = old & _OFFSET
        if node == _0:
            return _EMPTY
        below = load(mem, node + _NEXT)
        # LP: the compare-and-swap that succeeds.
        if cas(mem, head, old, below | ((old & ~_OFFSET) + version)):
            value = np.int64(peek(mem, node))
            _give(mem, thread, node)
            return value


@kernel
def push(mem: Handle, head: Word, thread: Word, value: Word) -> None:
    """Push a value; the head changes its version."""
    _push(mem, head, thread, value, _VERSION)


@kernel
def pop(mem: Handle, head: Word, thread: Word) -> Word:
    """Pop a value; the head changes its version."""
    return _pop(mem, head, thread, _VERSION)


@kernel
def push_unversioned(mem: Handle, head: Word, thread: Word, value: Word) -> None:
    """Push a value; the head has no version."""
    _push(mem, head, thread, value, _0)


@kernel
def pop_unversioned(mem: Handle, head: Word, thread: Word) -> Word:
    """Pop a value; the head has no version, so a node that is back on top is taken for the same state."""
    return _pop(mem, head, thread, _0)  # wrong: the same node may be back on top with another one below it


def _value(word: int) -> Hashable:
    return None if word == _EMPTY else word


def _nothing(word: int) -> Hashable:
    return None


TREIBER = Target(
    "treiber", get_model("stack"), {"push": Operation(push, _nothing), "pop": Operation(pop, _value)}, setup=setup
)
ABA = Target(
    "treiber_aba",
    get_model("stack"),
    {"push": Operation(push_unversioned, _nothing), "pop": Operation(pop_unversioned, _value)},
    setup=setup,
)
