"""Reclamation as a target: a word leads to a node, which writers replace and readers hold while they are pinned.

Example: ``init: write(1) | read() | write(2); tick(); write(3)``. The reader holds the node of 1. The writer retires
that node, and `tick` advances the epoch and frees what is due. The node must not be free, for the next write would use
it.

A read looks at both words of its node, which are the same in every node: if they differ, the node was used again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from latchfree.arena import Arena
from latchfree.arena.kernels.allocator import ORDINARY, allocate, begin
from latchfree.arena.kernels.epochs import drain, pin, retire, try_advance, unpin
from latchfree.arena.kernels.node import header
from latchfree.arena.kernels.participants import claim
from latchfree.arena.layout import PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import exchange, load, load_seq, poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.targets.silent import SilentTarget
from latchfree_explore.target import Memory, Operation

_CAPACITY: Final = 4 << 20
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
#: A word of the arena's header that is not in use: the offset of the node.
_CELL = np.uint64(1300)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_KIND = np.uint64(5)
_EVERYTHING = np.uint64(1 << 62)
CHANGED: Final = -1
NOTHING: Final = -2


@kernel
def read(mem: Handle, root: Word, thread: Word) -> Word:
    """Return the value, NOTHING if none was written, or CHANGED."""
    me = _FIRST + np.uint64(thread) * _STRIDE
    pin(mem, me)
    node = load_seq(mem, root)  # seq_cst: after the pin, for whoever scans the pins too
    found = np.int64(NOTHING)
    if node != _0:
        one = load(mem, node + _1)
        found = np.int64(one) if load(mem, node + _2) == one else np.int64(CHANGED)
    unpin(mem, me)
    return found


@kernel
def write(mem: Handle, root: Word, thread: Word, value: Word) -> None:
    """Put a new node with a value in the place of the old one, and retire that."""
    me = _FIRST + np.uint64(thread) * _STRIDE
    pin(mem, me)
    begin(mem, me, ORDINARY)
    node = allocate(mem, me, _3)
    poke(mem, node, header(_KIND, _3, _1))
    poke(mem, node + _1, np.uint64(value))
    poke(mem, node + _2, np.uint64(value))
    old = exchange(mem, root, node)
    if old != _0:
        retire(mem, me, old)
    unpin(mem, me)


@kernel
def tick(mem: Handle, root: Word, thread: Word) -> None:
    """Advance the epoch if nobody is in the way, and free what is due of the thread's own."""
    try_advance(mem)
    drain(mem, _FIRST + np.uint64(thread) * _STRIDE, _EVERYTHING)


class EpochsTarget(SilentTarget):
    """One word in an arena of its own."""

    def prepare(self, threads: int, keys: str) -> Memory:
        """Claim a participant for every thread, and give it a chunk with spare blocks."""
        arena = Arena.anonymous(_CAPACITY)
        base, state = np.uint64(arena.base), np.uint64(arena.identity << 16)
        for thread in range(threads):
            slot = np.uint64(claim(base, state))
            if slot != _FIRST + np.uint64(thread) * _STRIDE:
                raise RuntimeError("participants of a fresh arena are not where they are expected")
            begin(base, slot, ORDINARY)
        return Memory(arena.words, int(_CELL), arena)


def _value(word: int) -> Hashable:
    return None if word == NOTHING else word


def _nothing(word: int) -> Hashable:
    return None


EPOCHS: Final = EpochsTarget(
    "epochs",
    "register",
    {"read": Operation(read, _value), "write": Operation(write, _nothing), "tick": Operation(tick, _nothing)},
    silent=frozenset(("tick",)),
)
