"""Build the free memory of an arena anew: everything that no trie reaches becomes free.

Example: tries own words 0 to 4 and 12 to 19 of the nodes. Words 5 to 11 become a free node of 7 words, and the arena
ends after word 19.

Invariant: only words that no node owns are written, and participant slots, lists and counts. So a rebuilding that
is killed has damaged nothing, and the next one does the same again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import layout
from latchfree.arena.entry import READY, Words, entries_of, state_of
from latchfree.arena.kernels.freelists import CLASSES, batch_of, piece_of, size_class
from latchfree.arena.layout import FIRST_NODE, P_FREE, P_LENGTH, PARTICIPANTS, SHARED_LISTS
from latchfree.atomics import peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_ME = np.uint64(PARTICIPANTS)


@kernel
def _push_batch(mem: Handle, kind: Word, first: Word) -> None:
    poke(mem, first + _1, peek(mem, SHARED_LISTS + kind))
    poke(mem, SHARED_LISTS + kind, first)


@kernel
def _free(mem: Handle, node: Word, size: Word, chains: Array, lengths: Array) -> None:
    """Put a node on the chain of its class, and the chain on the shared list once it is a batch."""
    kind = size_class(size)
    poke(mem, node, chains[kind])
    if kind == _0:
        # A batch links to the next through its second word: single words stay with the first participant.
        poke(mem, _ME + P_FREE, node)
        poke(mem, _ME + P_LENGTH, peek(mem, _ME + P_LENGTH) + _1)
        chains[kind] = node
        return
    chains[kind] = node
    lengths[kind] += _1
    if lengths[kind] == batch_of(kind):
        _push_batch(mem, kind, node)
        chains[kind] = lengths[kind] = _0


@kernel
def _free_gaps(mem: Handle, owned: Array, chains: Array, lengths: Array) -> None:
    """Free all words that are not owned; lists and slots are empty."""
    end = np.uint64(len(owned))
    at = _0
    while at < end:
        if owned[at] != 0:
            at += _1
            continue
        gap = _1
        while at + gap < end and owned[at + gap] == 0:
            gap += _1
        while gap > _0:
            size = piece_of(gap)
            _free(mem, _FIRST + at, size, chains, lengths)
            at += size
            gap -= size
    for k in range(_1, CLASSES):
        kind = np.uint64(k)
        if chains[kind] != _0:
            _push_batch(mem, kind, chains[kind])


def rebuild(words: Words, owned: NDArray[np.uint8]) -> None:
    """Make everything free that is not owned, and all participants unborn; the caller is alone.

    Parameters
    ----------
    words : ndarray of uint64
        The arena.
    owned : ndarray of uint8
        One element a word from the first that a node may occupy: 1 for those of nodes that tries reach.
    """
    last = np.flatnonzero(owned)[-1:].tolist()
    owned = owned[: last[0] + 1 if last else 0]
    words[PARTICIPANTS:FIRST_NODE] = 0
    lists = int(SHARED_LISTS)
    words[lists : lists + int(CLASSES)] = 0
    # From here on the first slot has been in use: it holds the count of words in nodes, and single free words.
    words[layout.H_CLAIMED] = 1
    words[PARTICIPANTS + int(layout.P_LIVE)] = np.count_nonzero(owned)
    words[layout.H_BUMP] = FIRST_NODE + len(owned)
    chains, lengths = np.zeros((2, int(CLASSES)), np.uint64)
    _free_gaps(np.uint64(words.ctypes.data), owned, chains, lengths)
    for entry in entries_of(words):
        if state_of(int(entry[layout.E_STATE])) != READY:
            entry[:] = 0
