"""Pins as a target: readers pin themselves and follow a link; others replace what it leads to, and free that in time.

Example: ``read | replace``. A freed node holds poison; who reads poison has read what was freed. The memory is that of
an arena's header and participants, and two nodes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.arena.kernels.epochs import pin, try_advance, unpin
from latchfree.arena.layout import H_CLAIMED, H_EPOCH, PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import cas, load, load_seq, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree_explore.target import Operation, Target
from latchfree_model.models import Call, SequentialModel

_1 = np.uint64(1)
_GRACE = np.uint64(2)
_PARTICIPANTS = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_MOST: Final = 9
_END: Final = PARTICIPANTS + _MOST * PARTICIPANT_WORDS
_LINK = np.uint64(_END)
_OLD = np.uint64(_END + 8)
_NEW = np.uint64(_END + 16)
_GOOD = np.uint64(7)
_POISON = np.uint64(99)


class ReadersModel(SequentialModel[int]):
    """``read() -> 7``, never poison; ``replace``, ``retire`` and ``advance`` answer as they like."""

    name = "readers"
    operations = MappingProxyType({"read": 0, "replace": 0, "retire": 0, "advance": 0})
    silent = frozenset({"replace", "retire", "advance"})

    def init(self) -> int:
        """Return the only state."""
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return what a node that is not freed holds."""
        return int(_GOOD), state


@kernel
def link(mem: Handle, threads: Word) -> Word:
    """Link the old node, and begin in epoch 4."""
    poke(mem, H_EPOCH, np.uint64(4))
    poke(mem, H_CLAIMED, np.uint64(threads))
    poke(mem, _OLD, _GOOD)
    poke(mem, _NEW, _GOOD)
    poke(mem, _LINK, _OLD)
    return _LINK


@kernel
def read(mem: Handle, root: Word, thread: Word) -> Word:
    """Follow the link, pinned."""
    me = _PARTICIPANTS + np.uint64(thread) * _STRIDE
    pin(mem, me)
    found = peek(mem, load_seq(mem, root))
    unpin(mem, me)
    return found


@kernel
def _free_when_due(mem: Handle, epoch: Word) -> Flag:
    due = epoch + _GRACE <= load(mem, H_EPOCH)
    if due:
        poke(mem, _OLD, _POISON)
    return due


@kernel
def replace(mem: Handle, root: Word, thread: Word) -> Flag:
    """Unlink the old node, advance the epoch twice if possible, and free the node if it is due."""
    if not cas(mem, root, _OLD, _NEW):
        return False
    epoch = load_seq(mem, H_EPOCH)
    try_advance(mem)
    try_advance(mem)
    return _free_when_due(mem, epoch)


@kernel
def retire(mem: Handle, root: Word, thread: Word) -> Flag:
    """Unlink the old node, and free it if others have advanced the epoch."""
    if not cas(mem, root, _OLD, _NEW):
        return False
    return _free_when_due(mem, load_seq(mem, H_EPOCH))


@kernel
def advance(mem: Handle, root: Word, thread: Word) -> Word:
    """Try to advance the epoch three times; return how often that worked."""
    return np.uint64(try_advance(mem)) + np.uint64(try_advance(mem)) + np.uint64(try_advance(mem))


PINS: Final = Target(
    "pins",
    ReadersModel(),
    {"read": read, "replace": Operation(replace, bool), "retire": Operation(retire, bool), "advance": advance},
    link,
    size=_END + 64,
)
