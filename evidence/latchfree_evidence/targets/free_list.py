"""A shared free list as a target: a stack of batches of one node each, pushed and popped as the arena does it.

Example: ``init: push(1); push(2) | pop() | pop(); pop(); push(2) | after: pop()``. The first thread reads that node 2
is on top with node 1 below, and is stopped. The other one takes both and puts node 2 back. The first one's
compare-and-swap must fail, although node 2 is on top again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from latchfree.arena.kernels.freelists import refill, spill
from latchfree.arena.layout import P_EDGE, P_FREE, P_LENGTH, P_SCRATCH, PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import poke
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore.target import Operation, Target

_0 = np.uint64(0)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
#: The list of nodes of 128 words, which travel one by one.
_CLASS = np.uint64(72)
_WORDS: Final = 128
_NODES = np.uint64(PARTICIPANTS + 9 * PARTICIPANT_WORDS)
_MOST: Final = 8
_EMPTY: Final = -1
#: A word of a node that its owner writes, behind the links of the list.
_MARK = np.uint64(2)


@kernel
def push(mem: Handle, root: Word, thread: Word, number: Word) -> None:
    """Put a node that nobody else has on the list."""
    me = _FIRST + np.uint64(thread) * _STRIDE
    poke(mem, me + P_SCRATCH, _NODES + np.uint64(number) * np.uint64(_WORDS))
    poke(mem, me + P_EDGE + _CLASS, me + P_SCRATCH)  # below this edge are the nodes to move
    spill(mem, me, _CLASS)


@kernel
def pop(mem: Handle, root: Word, thread: Word) -> Word:
    """Take a node off the list; _EMPTY if there is none."""
    me = _FIRST + np.uint64(thread) * _STRIDE
    node = refill(mem, me, _CLASS)
    if node == _0:
        return _EMPTY
    poke(mem, node + _MARK, _0)  # two who have one node race
    poke(mem, me + P_FREE + _CLASS, _0)
    poke(mem, me + P_LENGTH + _CLASS, _0)
    return np.int64((node - _NODES) // np.uint64(_WORDS))


def _number(word: int) -> Hashable:
    return None if word == _EMPTY else word


def _nothing(word: int) -> Hashable:
    return None


FREE_LIST: Final = Target(
    "free-list",
    "stack",
    {"push": Operation(push, _nothing), "pop": Operation(pop, _number)},
    size=int(_NODES) + _MOST * _WORDS,
)
