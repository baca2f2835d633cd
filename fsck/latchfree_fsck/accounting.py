"""Find out what the words are that no trie reaches: on a free list, waiting to be freed, or lost.

Example: of 1,000 words given out, tries reach 700, free lists hold 250 and limbo 45. So 5 words have leaked.

A word that is on two free lists, or both free and in a node, is damage of the lists: harmless as long as nobody
allocates, and gone once the lists are built anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.kernels.blocks import COUNT, ENTRIES, LINK, node_of, words_of
from latchfree.arena.kernels.freelists import CLASSES, class_size, round_up
from latchfree.arena.kernels.node import BLOCK, kind_of, size_of
from latchfree.arena.layout import (
    FIRST_NODE,
    H_CLAIMED,
    H_OWNED,
    P_BUMP,
    P_DEFERRED,
    P_FREE,
    P_LIMIT,
    P_OLDEST,
    P_SPARES,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
    SHARED_LISTS,
)
from latchfree.atomics import peek
from latchfree.ctrie.kernels.shape import B_WORDS, BRANCH, I_NODE, I_WORDS, TABLE, TAG, UNTAG
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.streams.kernels import layout, roster
from latchfree.streams.kernels.positions import CELL_SHIFT
from latchfree_fsck.nodes import node_words
from latchfree_fsck.reach import Reach

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_TABLE = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_OFFSET = np.uint64((1 << 40) - 1)

_MASKS = np.uint64((1 << 25) - 1)
_HEADROOM = roster.HEADER_WORDS - layout.RING_WORDS

#: What a word is.
UNKNOWN, REACHED, WAITING, FREE = range(4)


@kernel
def _all_unknown(uses: Array, first: Word, size: Word) -> Flag:
    if first < _FIRST or first - _FIRST > np.uint64(len(uses)) or size > np.uint64(len(uses)) - (first - _FIRST):
        return False
    known = 0
    for k in range(first - _FIRST, first - _FIRST + size):
        known += uses[k] != UNKNOWN
    return known == 0


@kernel
def _use(uses: Array, first: Word, size: Word, what: int) -> None:
    """Note the use of words whose use is unknown so far."""
    for k in range(first - _FIRST, first - _FIRST + size):
        if uses[k] == UNKNOWN:
            uses[k] = what


@kernel
def _claim(uses: Array, first: Word, size: Word, what: int, bad: Array) -> Flag:
    """Note a use of words; False, and a fault, if their use is known already."""
    if not _all_unknown(uses, first, size):
        bad[0] += 1
        return False
    _use(uses, first, size, what)
    return True


@kernel
def _free_list(mem: Handle, node: Word, size: Word, uses: Array, bad: Array) -> Flag:
    while node != _0:
        if not _claim(uses, node, size, FREE, bad):
            return False
        node = peek(mem, node)
    return True


@kernel
def note_free(mem: Handle, uses: Array, bad: Array) -> None:
    """Note what is on free lists and in ends of chunks."""
    for c in range(CLASSES):
        kind = np.uint64(c)
        batch = peek(mem, SHARED_LISTS + kind) & _OFFSET
        while batch != _0 and _free_list(mem, batch, class_size(kind), uses, bad):
            batch = peek(mem, batch + _1) & _OFFSET if kind > _0 else _0
    for p in range(peek(mem, H_CLAIMED)):
        me = _TABLE + np.uint64(p) * _STRIDE
        if peek(mem, me + P_BUMP) < peek(mem, me + P_LIMIT):
            _claim(uses, peek(mem, me + P_BUMP), peek(mem, me + P_LIMIT) - peek(mem, me + P_BUMP), FREE, bad)
        for c in range(CLASSES):
            _free_list(mem, peek(mem, me + P_FREE + np.uint64(c)), class_size(np.uint64(c)), uses, bad)


@kernel
def note_reached(mem: Handle, seen: Array, uses: Array, what: int) -> None:
    """Note the words of all nodes marked in `seen`."""
    for k in range(len(seen)):
        if seen[k] != 0:
            _use(uses, _FIRST + np.uint64(k), round_up(size_of(mem, _FIRST + np.uint64(k))), what)


@kernel
def _note_entry(mem: Handle, entry: Word, uses: Array) -> Flag:
    node = node_of(entry)
    limit = _FIRST + np.uint64(len(uses))
    kind = kind_of(mem, node) if node >= _FIRST and node < limit else _0
    words = node_words(mem, node, limit, kind, _0) if kind >= I_NODE and kind <= TABLE else _0
    _use(uses, node, words, WAITING)
    return words != _0 and words_of(entry) == size_of(mem, node)


@kernel
def _note_blocks(mem: Handle, block: Word, trees: Array, found: Word, uses: Array, bad: Array) -> Word:
    """Note a list of blocks and the nodes in them, and collect the trees; returns the number of trees."""
    limit = _FIRST + np.uint64(len(uses))
    while block != _0:
        words = node_words(mem, block, limit, BLOCK, _0)
        if words == _0 or not _all_unknown(uses, block, words):
            bad[0] += 1
            return found
        _use(uses, block, words, WAITING)
        for k in range(peek(mem, block + COUNT)):
            entry = peek(mem, block + ENTRIES + np.uint64(k))
            if entry & TAG == _0:
                if not _note_entry(mem, entry, uses):
                    bad[0] += 1
            else:
                if found < np.uint64(len(trees)):
                    trees[found] = entry & UNTAG
                found += _1
        block = peek(mem, block + LINK)
    return found


@kernel
def note_waiting(mem: Handle, trees: Array, uses: Array, bad: Array) -> Word:
    """Note what waits in the limbo of participants and their spare blocks; returns the number of trees."""
    found = _0
    for p in range(peek(mem, H_CLAIMED)):
        me = _TABLE + np.uint64(p) * _STRIDE
        found = _note_blocks(mem, peek(mem, me + P_OLDEST), trees, found, uses, bad)
        found = _note_blocks(mem, peek(mem, me + P_SPARES), trees, found, uses, bad)
    return found


@kernel
def note_rings(mem: Handle, uses: Array, bad: Array) -> None:
    """Note the rings that dead openings have left, and the tables that list them."""
    table = peek(mem, H_OWNED)
    while table != _0 and _claim(uses, table, roster.TABLE_WORDS, WAITING, bad):
        for k in range(roster.SLOTS):
            at = peek(mem, table + roster.FIRST_SLOT + np.uint64(k) * roster.SLOT_WORDS + roster.RING)
            if at == _0 or (at >= _FIRST and at - _FIRST < np.uint64(len(uses)) and uses[at - _FIRST] == REACHED):
                continue  # none, or one that has a name
            if not _all_unknown(uses, at, layout.RING_WORDS):
                bad[0] += 1
                continue
            mask = peek(mem, at + layout.MASK)
            header = peek(mem, at + layout.HEADER)
            if mask > _MASKS or at - header > _HEADROOM or not _claim(uses, header, roster.HEADER_WORDS, WAITING, bad):
                bad[0] += 1
                continue
            _claim(uses, peek(mem, at + layout.CELLS), round_up((mask + _1) << CELL_SHIFT), WAITING, bad)
        table = peek(mem, table + roster.NEXT)


@kernel
def note_beheaded(mem: Handle, trees: Array, uses: Array, bad: Array) -> Word:
    """Collect the I-nodes of trees that are being freed; returns their number."""
    found = _0
    for p in range(peek(mem, H_CLAIMED)):
        word = peek(mem, _TABLE + np.uint64(p) * _STRIDE + P_DEFERRED)
        while word != _0:
            i = word & _OFFSET
            size = I_WORDS if word & BRANCH == _0 else B_WORDS
            if not _all_unknown(uses, i, size):
                bad[0] += 1
                break
            _use(uses, i, size, WAITING)
            if found < np.uint64(len(trees)):
                trees[found] = i
            found += _1
            word = peek(mem, i)
    return found


@dataclass(frozen=True)
class Account:
    """Words of an arena by use.

    Attributes
    ----------
    given : int
        Words taken from the arena so far, the sum of the next four.
    reached : int
        In nodes that tries reach, also in the snapshots of dead processes, and in sketches.
    waiting : int
        In nodes that wait to be freed, and the blocks that list them; in rings, which end with their openings.
    free : int
        On free lists.
    leaked : int
        In nothing: lost by processes that were killed.
    pieces : int
        Into how many stretches the leaked words fall.
    faults : int
        Places where the lists of free memory are damaged.
    """

    given: int
    reached: int
    waiting: int
    free: int
    leaked: int
    pieces: int
    faults: int


def account(base: int, reach: Reach) -> Account:
    """Return the words of an arena by use.

    Parameters
    ----------
    base : int
        Address of the arena, which nobody is using.
    reach : Reach
        Has walked all tries of the arena.
    """
    mem = np.uint64(base)
    uses: NDArray[np.uint8] = np.zeros(len(reach.seen), np.uint8)
    bad = np.zeros(1, np.int64)
    note_reached(mem, reach.seen, uses, REACHED)
    for start, words in reach.stretches:
        uses[start - FIRST_NODE : start - FIRST_NODE + words] = REACHED
    cut_off = Reach(base)
    room: NDArray[np.uint64] = np.zeros(1 << 16, np.uint64)
    for beheaded, collect in ((False, note_waiting), (True, note_beheaded)):
        for i in room[: int(collect(mem, room, uses, bad))].tolist():
            try:
                cut_off.add_cut_off(i, beheaded=beheaded)
            except ArenaInvalid:
                bad[0] += 1
    note_reached(mem, cut_off.seen, uses, WAITING)
    note_rings(mem, uses, bad)
    note_free(mem, uses, bad)
    counts = np.bincount(uses, minlength=4).tolist()
    leaked = np.concatenate([[False], uses == UNKNOWN])
    pieces = int(np.count_nonzero(leaked[1:] & ~leaked[:-1]))
    return Account(len(uses), counts[REACHED], counts[WAITING], counts[FREE], counts[UNKNOWN], pieces, int(bad[0]))
