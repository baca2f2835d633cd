"""Count the words of an arena by use, see `latchfree.arena.census`; at any time, whatever the words are.

Example: a free list is read while its owner takes nodes off. The third link read is a key by now, say 7. No node is at
word 7, so the walk of this list ends there, and the count is marked as torn.

Invariant: no link is followed before it is known to lead to words that were given out. The words of one count add up to
at most those given out, so each walk ends, also in a circle.
"""

import numpy as np

from latchfree.arena.kernels.blocks import COUNT, DEFERRED, ENTRIES, LINK, words_of
from latchfree.arena.kernels.freelists import CLASSES, class_size, round_up
from latchfree.arena.kernels.node import SIZE_MASK, SIZE_SHIFT
from latchfree.arena.layout import (
    FIRST_NODE,
    H_BUMP,
    H_CLAIMED,
    P_BUMP,
    P_DEFERRED,
    P_FREE,
    P_HOLDERS,
    P_LIMIT,
    P_OLDEST,
    P_SPARES,
    PARTICIPANT_COUNT,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
    SHARED_LISTS,
)
from latchfree.atomics import load
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_TABLE = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_COUNT = np.uint64(PARTICIPANT_COUNT)
_OFFSET = np.uint64((1 << 40) - 1)
_THING = np.uint64(2)
_MIX = np.uint64(0x9E3779B97F4A7C15)

#: What a count has found: words by use, things that their structures free, words not counted yet, the end of the words
#: given out, whether a link led elsewhere, and a digest of all words of participants that change with a list.
FREE, TAILS, LIMBO, SPARE, DEFERRED_THINGS, LEFT, TOP, TORN, DIGEST = range(9)
TOTALS = 9


@kernel
def _spend(node: Word, words: Word, totals: Array) -> Flag:
    """Return whether a node can be where a link leads, and take its words off those that are left."""
    if words > totals[LEFT] or node < _FIRST or node > totals[TOP] - words:
        totals[TORN] = _1
        return False
    totals[LEFT] -= words
    return True


@kernel
def _count_list(mem: Handle, node: Word, words: Word, use: int, each: Word, totals: Array) -> None:
    """Count the nodes of a list, linked through their first words, as `each` of a use."""
    node &= _OFFSET
    while node != _0 and _spend(node, words, totals):
        totals[use] += each
        node = load(mem, node) & _OFFSET


@kernel
def _count_shared(mem: Handle, totals: Array) -> None:
    for k in range(CLASSES):
        kind = np.uint64(k)
        size = class_size(kind)
        head = load(mem, SHARED_LISTS + kind)
        totals[DIGEST] = (totals[DIGEST] ^ head) * _MIX
        batch = head & _OFFSET
        while batch != _0 and totals[TORN] == _0:
            _count_list(mem, batch, size, FREE, size, totals)
            # Checked by the walk of the batch. Single words are on no shared list.
            batch = load(mem, batch + _1) & _OFFSET if totals[TORN] == _0 and kind > _0 else _0


@kernel
def _count_blocks(mem: Handle, block: Word, use: int, totals: Array) -> None:
    """Count a list of blocks, and what is in them."""
    while block != _0:
        if not _spend(block, ENTRIES, totals):
            return
        words = round_up((load(mem, block) >> SIZE_SHIFT) & SIZE_MASK)
        entries = load(mem, block + COUNT)
        if words < ENTRIES or not _spend(block, words - ENTRIES, totals) or block > totals[TOP] - words:
            totals[TORN] = _1
            return
        totals[use] += words
        if entries > words - ENTRIES:
            totals[TORN] = _1
            return
        for k in range(entries):
            entry = load(mem, block + ENTRIES + np.uint64(k))
            if entry & DEFERRED != _0 and words_of(entry) == _0:
                totals[DEFERRED_THINGS] += _1
                continue
            size = round_up(words_of(entry))
            if not _spend(entry & _OFFSET, size, totals):
                return
            totals[LIMBO] += size
        block = load(mem, block + LINK)


@kernel
def _count_holders(mem: Handle, node: Word, totals: Array) -> None:
    """Count the nodes that hold something and wait, linked through their second words."""
    while node != _0:
        if not _spend(node, _THING, totals):
            return
        size = round_up((load(mem, node) >> SIZE_SHIFT) & SIZE_MASK)
        if size < _THING or not _spend(node, size - _THING, totals):
            totals[TORN] = _1
            return
        totals[LIMBO] += size
        node = load(mem, node + _1) & _OFFSET


@kernel
def _count_participant(mem: Handle, me: Word, totals: Array) -> None:
    bump, limit = load(mem, me + P_BUMP), load(mem, me + P_LIMIT)
    if bump < limit and _spend(bump, limit - bump, totals):
        totals[TAILS] += limit - bump
    for k in range(CLASSES):
        size = class_size(np.uint64(k))
        _count_list(mem, load(mem, me + P_FREE + np.uint64(k)), size, FREE, size, totals)
    _count_blocks(mem, load(mem, me + P_OLDEST), LIMBO, totals)
    _count_blocks(mem, load(mem, me + P_SPARES), SPARE, totals)
    _count_list(mem, load(mem, me + P_DEFERRED), _THING, DEFERRED_THINGS, _1, totals)
    _count_holders(mem, load(mem, me + P_HOLDERS), totals)
    for at in range(P_BUMP, _STRIDE):
        totals[DIGEST] = (totals[DIGEST] ^ load(mem, me + np.uint64(at))) * _MIX


@kernel
def count(mem: Handle, words: Word, totals: Array) -> Word:
    """Add up the words of each use in `totals`, all zeros; return the first word of `words` never given out."""
    top = max(min(load(mem, H_BUMP), words), _FIRST)
    totals[TOP] = top
    totals[LEFT] = top - _FIRST
    _count_shared(mem, totals)
    for p in range(min(load(mem, H_CLAIMED), _COUNT)):
        _count_participant(mem, _TABLE + np.uint64(p) * _STRIDE, totals)
    return top
