"""The shared free list as a target: batches of one node, given and taken.

Example: ``init: give(1) | take | take``. Whoever has taken a node writes into it; two owners of one node race.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.arena.kernels.freelists import refill, size_class, spill
from latchfree.arena.layout import P_EDGE, PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree_explore.target import Operation, Target
from latchfree_model.models import Call, SequentialModel

#: A size of which one node is a batch.
_SIZE: Final = 128
_MOST: Final = 9
_END: Final = PARTICIPANTS + _MOST * PARTICIPANT_WORDS
_PARTICIPANTS = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_EDGES = np.uint64(_END)
_NODES = np.uint64(_END + 64)
_STEP = np.uint64(8)
_0 = np.uint64(0)
_MARK = np.uint64(2)


class NodesModel(SequentialModel[frozenset[object]]):
    """``give(n)`` and ``take() -> n``, one that was given, or 0 for none; ``use()`` takes one and gives it back."""

    name = "nodes"
    operations = MappingProxyType({"give": 1, "take": 0, "use": 0})
    silent = frozenset({"give", "use"})

    def init(self) -> frozenset[object]:
        """Return the empty list."""
        return frozenset()

    def apply(self, state: frozenset[object], call: Call) -> tuple[object, frozenset[object]]:
        """Return what a take may have, and the list afterwards."""
        if call.f == "give":
            return None, state | {call.arguments[0]}
        if call.f == "take":
            if call.result in state:
                return call.result, state - {call.result}
            return 0, state
        return None, state

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether a take returned what was there, or nothing: a node may be in use just then."""
        return call.result in (expected, 0)


@kernel
def start(mem: Handle, threads: Word) -> Word:
    """Begin with an empty list."""
    return _0


@kernel
def _me(thread: Word) -> Word:
    return _PARTICIPANTS + np.uint64(thread) * _STRIDE


@kernel
def _give(mem: Handle, thread: Word, node: Word) -> None:
    """Spill a node: it is what is below the edge of the thread's private list."""
    edge = _EDGES + np.uint64(thread)
    poke(mem, node + _MARK, np.uint64(thread))
    poke(mem, node, _0)
    poke(mem, edge, node)
    kind = size_class(np.uint64(_SIZE))
    poke(mem, _me(thread) + P_EDGE + kind, edge)
    spill(mem, _me(thread), kind)


@kernel
def _take(mem: Handle, thread: Word) -> Word:
    node = refill(mem, _me(thread), size_class(np.uint64(_SIZE)))
    if node != _0:
        poke(mem, node + _MARK, np.uint64(thread))
    return node


@kernel
def give(mem: Handle, root: Word, thread: Word, number: Word) -> None:
    """Give node `number`, from 1 on, which nobody has."""
    _give(mem, thread, _NODES + np.uint64(number) * _STEP)


@kernel
def take(mem: Handle, root: Word, thread: Word) -> Word:
    """Take a node, and return its number, 0 if there is none."""
    node = _take(mem, thread)
    return np.int64((node - _NODES) // _STEP) if node != _0 else 0


@kernel
def use(mem: Handle, root: Word, thread: Word) -> Flag:
    """Take a node and give it back; return whether there was one."""
    node = _take(mem, thread)
    if node == _0 or peek(mem, node + _MARK) != np.uint64(thread):
        return False
    _give(mem, thread, node)
    return True


FREE_LIST: Final = Target(
    "free-list",
    NodesModel(),
    {"give": give, "take": take, "use": Operation(use, bool)},
    start,
    size=_END + 1024,
)
