"""The Ctrie as a target that reclaims all the time: after each update its thread frees whatever is due.

Example: ``init: put(0, 1) | put(0, 2) | get(0)``. The put replaces a node, advances the epoch if it can and frees the
node, while the lookup may be reading that. Freeing writes into the node; so a node that is freed too early is a data
race, whatever the lookup returns.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.arena.kernels.epochs import drain, try_advance
from latchfree.ctrie.kernels.trees import free_trees
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.targets import ctrie
from latchfree_evidence.targets.ctrie import CtrieTarget, participant_at
from latchfree_evidence.targets.placement import LAYOUTS
from latchfree_explore.target import Operation

_MANY = np.uint64(1 << 20)


@kernel
def _reclaim(mem: Handle, thread: Word) -> None:
    """Advance the epoch twice if nobody is pinned, and free what is due."""
    me = participant_at(thread)
    try_advance(mem)
    try_advance(mem)
    drain(mem, me, _MANY)
    free_trees(mem, me, _MANY)


@kernel
def put(mem: Handle, trie: Word, thread: Word, key: Word, value: Word) -> Word:
    """Put a value and return the old one, or ABSENT."""
    held = ctrie.put(mem, trie, thread, key, value)
    _reclaim(mem, thread)
    return held


@kernel
def remove(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Remove a key and return its value, or ABSENT."""
    held = ctrie.remove_key(mem, trie, thread, key)
    _reclaim(mem, thread)
    return held


@kernel
def snapshot(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take a snapshot, return its contents, and drop it."""
    packed = ctrie.snapshot(mem, trie, thread)
    _reclaim(mem, thread)
    return packed


@kernel
def clear(mem: Handle, trie: Word, thread: Word) -> Word:
    """Remove all keys."""
    done = ctrie.clear_all(mem, trie, thread)
    _reclaim(mem, thread)
    return done


RECLAIMING: Final = CtrieTarget(
    "reclaiming-ctrie",
    "map",
    {
        **ctrie.CTRIE.operations,
        "put": Operation(put, ctrie.value_or_none),
        "remove": Operation(remove, ctrie.value_or_none),
        "snapshot": Operation(snapshot, ctrie.CTRIE.operation("snapshot").result),
        "clear": Operation(clear, ctrie.CTRIE.operation("clear").result),
    },
    layouts=tuple(LAYOUTS),
)
