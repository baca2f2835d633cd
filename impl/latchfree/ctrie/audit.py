"""Every node that a trie reaches: its root record, live tree, snapshot tables, deadlists, and the trees of snapshots.

It walks a trie that nobody changes and trusts no word of it: an offset outside the arena, an unknown kind or a
size that does not fit ends the walk with the offset of the offender.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.blocks import COUNT as BLOCK_COUNT
from latchfree.arena.blocks import ENTRIES as BLOCK_ENTRIES
from latchfree.arena.blocks import LINK
from latchfree.arena.freelists import round_up
from latchfree.arena.layout import FIRST_NODE, H_BUMP
from latchfree.arena.shape import (
    BITMAP,
    BLOCK,
    C_NODE,
    C_WORDS,
    COUNT,
    ENTRIES,
    I_NODE,
    I_WORDS,
    L_NODE,
    L_WORDS,
    MAIN,
    PENDING,
    PREV,
    RDCSS,
    ROOT,
    ROOT_WORD,
    S_NODE,
    SLOTS,
    SNAPSHOTS,
    T_NODE,
    T_WORDS,
    TABLE,
    TAG,
    TOMBED,
    UNTAG,
    kind_of,
    size_of,
)
from latchfree.atomics import peek, popcount
from latchfree.ctrie import registry
from latchfree.ctrie.root import NEW, OLD
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_TABLE_SLOTS = registry.SLOTS
_EMPTY = registry.EMPTY

#: Nodes noted but not visited yet: at most 63 a level of each of the few trees in sight.
_STACK = 1 << 14

# State of a walk: height of the stack, words and nodes found, the first offender.
_HEIGHT, _WORDS, _NODES, _BAD = range(4)


@kernel
def _mark(mem: Handle, node: Word, kind: Word, state: Array, seen: Array, stack: Array) -> None:
    """Count a node, unless it is no node of that kind or known already, and note it to be visited."""
    if state[_BAD] != _0:
        return
    top = peek(mem, H_BUMP)
    # The tag marks offenders, as offset 0 may be one.
    if node < _FIRST or node >= top or kind_of(mem, node) != kind or state[_HEIGHT] >= len(stack):
        state[_BAD] = node | TAG
        return
    size = size_of(mem, node)
    if size < I_WORDS or node + round_up(size) > top:
        state[_BAD] = node | TAG
        return
    if seen[node - _FIRST]:
        return
    seen[node - _FIRST] = 1
    state[_WORDS] += round_up(size)
    state[_NODES] += _1
    if kind != S_NODE:
        stack[state[_HEIGHT]] = node
        state[_HEIGHT] += _1


@kernel
def _mark_main(mem: Handle, main: Word, state: Array, seen: Array, stack: Array) -> None:
    kind = C_NODE
    if main >= _FIRST and main < peek(mem, H_BUMP) and (kind_of(mem, main) == T_NODE or kind_of(mem, main) == L_NODE):
        kind = kind_of(mem, main)
    _mark(mem, main, kind, state, seen, stack)


@kernel
def _mark_deadlist(mem: Handle, head: Word, state: Array, seen: Array, stack: Array) -> None:
    block = head
    while block & _EMPTY == _0 and state[_BAD] == _0:
        known = block >= _FIRST and block < peek(mem, H_BUMP) and seen[block - _FIRST]
        _mark(mem, block, BLOCK, state, seen, stack)
        if state[_BAD] != _0 or known:
            return
        for k in range(min(peek(mem, block + BLOCK_COUNT), size_of(mem, block) - BLOCK_ENTRIES)):
            entry = peek(mem, block + BLOCK_ENTRIES + np.uint64(k))
            if entry & TAG != _0:
                _mark(mem, entry & UNTAG, I_NODE, state, seen, stack)
            elif entry >= _FIRST and entry < peek(mem, H_BUMP):
                _mark(mem, entry, kind_of(mem, entry), state, seen, stack)
        block = peek(mem, block + LINK)


@kernel
def _visit_table(mem: Handle, table: Word, state: Array, seen: Array, stack: Array) -> None:
    if peek(mem, table + registry.NEXT) != _0:
        _mark(mem, peek(mem, table + registry.NEXT), TABLE, state, seen, stack)
    for k in range(_TABLE_SLOTS):
        slot = table + registry.FIRST_SLOT + np.uint64(k)
        if peek(mem, slot + registry.GEN) != _0:
            _mark_deadlist(mem, peek(mem, slot + registry.HEAD), state, seen, stack)
            if peek(mem, slot + registry.FORK) != _0:
                _mark(mem, peek(mem, slot + registry.FORK), ROOT, state, seen, stack)


@kernel
def _visit_root(mem: Handle, trie: Word, state: Array, seen: Array, stack: Array) -> None:
    word = peek(mem, trie + ROOT_WORD)
    if word & PENDING == _0:
        _mark(mem, word, I_NODE, state, seen, stack)
    else:
        d = word & UNTAG
        _mark(mem, d, RDCSS, state, seen, stack)
        if state[_BAD] == _0:
            _mark(mem, peek(mem, d + OLD), I_NODE, state, seen, stack)
            _mark(mem, peek(mem, d + NEW), I_NODE, state, seen, stack)
    if peek(mem, trie + SNAPSHOTS) != _0:
        _mark(mem, peek(mem, trie + SNAPSHOTS), TABLE, state, seen, stack)


@kernel
def _visit(mem: Handle, node: Word, state: Array, seen: Array, stack: Array) -> None:
    """Mark everything a node links to."""
    kind = kind_of(mem, node)
    size = size_of(mem, node)
    fits = True
    if kind == I_NODE:
        fits = size == I_WORDS
        _mark_main(mem, peek(mem, node + MAIN), state, seen, stack)
    elif kind == C_NODE:
        fits = size == C_WORDS + popcount(peek(mem, node + BITMAP))
        for k in range(size - SLOTS if fits else _0):
            slot = peek(mem, node + SLOTS + np.uint64(k))
            _mark(mem, slot & UNTAG, I_NODE if slot & TAG != _0 else S_NODE, state, seen, stack)
    elif kind == T_NODE:
        fits = size == T_WORDS
        _mark(mem, peek(mem, node + TOMBED), S_NODE, state, seen, stack)
    elif kind == L_NODE:
        fits = size == L_WORDS + peek(mem, node + COUNT)
        for k in range(size - ENTRIES if fits else _0):
            _mark(mem, peek(mem, node + ENTRIES + np.uint64(k)), S_NODE, state, seen, stack)
    elif kind == TABLE:
        _visit_table(mem, node, state, seen, stack)
    elif kind == ROOT:
        _visit_root(mem, node, state, seen, stack)
    if (kind == C_NODE or kind == T_NODE or kind == L_NODE) and peek(mem, node + PREV) != _0:
        _mark_main(mem, peek(mem, node + PREV) & UNTAG, state, seen, stack)
    if not fits:
        state[_BAD] = node | TAG


@kernel
def _walk(mem: Handle, trie: Word, state: Array, seen: Array, stack: Array) -> None:
    _mark(mem, trie, ROOT, state, seen, stack)
    while state[_HEIGHT] > _0 and state[_BAD] == _0:
        state[_HEIGHT] -= _1
        _visit(mem, stack[state[_HEIGHT]], state, seen, stack)


class Audit:
    """What some tries of an arena reach, all together.

    Attributes
    ----------
    words, nodes : int
        Size of everything found so far, rounded as allocated.
    seen : ndarray of uint8
        One element a word from the first that a node may occupy: 1 where a node begins.
    """

    def __init__(self, base: int) -> None:
        self._base = np.uint64(base)
        self._state = np.zeros(4, np.uint64)
        self._stack = np.zeros(_STACK, np.uint64)
        self.seen: NDArray[Any] = np.zeros(_top(self._base) - FIRST_NODE, np.uint8)

    @property
    def words(self) -> int:
        return int(self._state[_WORDS])

    @property
    def nodes(self) -> int:
        return int(self._state[_NODES])

    def add(self, trie: int) -> None:
        """Walk a trie, which nobody may be changing.

        Raises
        ------
        ArenaInvalid
            Where a link leads to something that cannot be the node it should be.
        """
        _walk(self._base, np.uint64(trie), self._state, self.seen, self._stack)
        bad = int(self._state[_BAD])
        if bad:
            raise ArenaInvalid(
                f"damaged: a link in the trie at word {trie} leads to word {bad & ~int(TAG)}, no such node"
            )


@kernel
def _top(mem: Handle) -> Word:
    return peek(mem, H_BUMP)
