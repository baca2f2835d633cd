"""Find every node that a trie reaches: root record, live tree, snapshot tables, deadlists, and trees of snapshots.

Example: after a quiet moment without snapshots the words reached by all tries are exactly the words in nodes that the
arena counts. A word in a node that nobody reaches has leaked.

The walk is of a trie that nobody changes, and trusts no word: an offset outside the arena, an unknown kind or a size
that does not fit ends the walk with the offset of the offender.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.kernels.blocks import COUNT as BLOCK_COUNT
from latchfree.arena.kernels.blocks import ENTRIES as BLOCK_ENTRIES
from latchfree.arena.kernels.blocks import LINK, node_of
from latchfree.arena.kernels.node import BLOCK, gen_of, kind_of, size_of
from latchfree.arena.layout import FIRST_NODE, H_BUMP
from latchfree.atomics import peek
from latchfree.ctrie.kernels import registry
from latchfree.ctrie.kernels.gcas import NEW, OLD
from latchfree.ctrie.kernels.shape import (
    C_NODE,
    ENTRIES,
    I_NODE,
    L_NODE,
    MAIN,
    PENDING,
    PLAIN,
    PREV,
    RDCSS,
    ROOT,
    ROOT_WORD,
    S_NODE,
    SLOTS,
    SNAPSHOTS,
    T_NODE,
    TABLE,
    TAG,
    TOMBED,
    UNTAG,
)
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree_fsck.nodes import ANY_ENTRIES, node_words

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_TABLE_SLOTS = registry.TABLE_SLOTS
_EMPTY = registry.EMPTY


#: Nodes noted but not visited yet. Where that is too few, they are marked instead, and found by looking at all marks.
_STACK = 1 << 12

#: Marks of a node: visited or on the stack; still to be visited, as the stack was full; counted, and not to be visited.
_KNOWN = 1
_POSTPONED = 2
_LISTED = 3

# State of a walk: height of the stack, words and nodes found, the first offender, whether nodes were postponed, and of
# which kind the entries are.
_HEIGHT, _WORDS, _NODES, _BAD, _LEFT, _KIND = range(6)


@kernel
def _list(mem: Handle, node: Word, kind: Word, state: Array, seen: Array) -> None:
    """Count a node, unless it is no node of that kind or known already."""
    if state[_BAD] != _0:
        return
    size = node_words(mem, node, _FIRST + np.uint64(len(seen)), kind, state[_KIND])
    if size == _0:
        # The tag marks offenders, as offset 0 may be one.
        state[_BAD] = node | TAG
        return
    if seen[node - _FIRST] == 0:
        seen[node - _FIRST] = _LISTED
        state[_WORDS] += size
        state[_NODES] += _1


@kernel
def _mark(mem: Handle, node: Word, kind: Word, state: Array, seen: Array, stack: Array) -> None:
    """Count a node as `_list` does, and note it to be visited."""
    _list(mem, node, kind, state, seen)
    if state[_BAD] != _0 or seen[node - _FIRST] != _LISTED:
        return
    seen[node - _FIRST] = _KNOWN
    if kind == S_NODE:
        return
    if state[_HEIGHT] < np.uint64(len(stack)):
        stack[state[_HEIGHT]] = node
        state[_HEIGHT] += _1
    else:
        seen[node - _FIRST] = _POSTPONED
        state[_LEFT] = _1


@kernel
def _kind_at(mem: Handle, node: Word, seen: Array) -> Word:
    """Return the kind of whatever is at an offset; 0, which no node has, for an offset outside the arena."""
    return kind_of(mem, node) if node >= _FIRST and node < _FIRST + np.uint64(len(seen)) else _0


@kernel
def _mark_main(mem: Handle, main: Word, state: Array, seen: Array, stack: Array) -> None:
    kind = _kind_at(mem, main, seen)
    _mark(mem, main, kind if kind in (T_NODE, L_NODE) else C_NODE, state, seen, stack)


@kernel
def _mark_slot(mem: Handle, slot: Word, state: Array, seen: Array, stack: Array) -> None:
    _mark(mem, slot & PLAIN, I_NODE if slot & TAG != _0 else S_NODE, state, seen, stack)


@kernel
def _mark_deadlist(mem: Handle, head: Word, gen: Word, state: Array, seen: Array, stack: Array) -> None:
    """Mark the nodes on the deadlist of the snapshot of generation `gen`.

    The list may have taken over nodes that are younger than the snapshot. No snapshot sees such a node, so what it
    links to may be free already.
    """
    block = head
    while block & _EMPTY == _0 and state[_BAD] == _0:
        known = _kind_at(mem, block, seen) != _0 and seen[block - _FIRST] != 0
        _mark(mem, block, BLOCK, state, seen, stack)
        if state[_BAD] != _0 or known:
            return
        for k in range(peek(mem, block + BLOCK_COUNT)):
            node = node_of(peek(mem, block + BLOCK_ENTRIES + np.uint64(k)))
            kind = _kind_at(mem, node, seen)
            if kind < I_NODE or kind > S_NODE:
                _mark(mem, node, I_NODE, state, seen, stack)
            elif gen_of(mem, node) > gen:
                _list(mem, node, kind, state, seen)
            else:
                _mark(mem, node, kind, state, seen, stack)
        block = peek(mem, block + LINK)


@kernel
def _visit_table(mem: Handle, table: Word, state: Array, seen: Array, stack: Array) -> None:
    if peek(mem, table + registry.NEXT) != _0:
        _mark(mem, peek(mem, table + registry.NEXT), TABLE, state, seen, stack)
    for k in range(_TABLE_SLOTS):
        slot = table + registry.FIRST_SLOT + np.uint64(k)
        gen = peek(mem, slot + registry.GEN)
        if gen != _0:
            _mark_deadlist(mem, peek(mem, slot + registry.HEAD), gen, state, seen, stack)
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
    """Mark every node that a node links to."""
    kind = kind_of(mem, node)
    size = size_of(mem, node)
    if kind == I_NODE:
        _mark_main(mem, peek(mem, node + MAIN), state, seen, stack)
    elif kind == C_NODE:
        for k in range(size - SLOTS):
            _mark_slot(mem, peek(mem, node + SLOTS + np.uint64(k)), state, seen, stack)
    elif kind == T_NODE:
        if peek(mem, node + TOMBED) != _0:
            _mark_slot(mem, peek(mem, node + TOMBED), state, seen, stack)
    elif kind == L_NODE:
        for k in range(size - ENTRIES):
            _mark(mem, peek(mem, node + ENTRIES + np.uint64(k)), S_NODE, state, seen, stack)
    elif kind == TABLE:
        _visit_table(mem, node, state, seen, stack)
    elif kind == ROOT:
        _visit_root(mem, node, state, seen, stack)
    if kind in (C_NODE, T_NODE, L_NODE) and peek(mem, node + PREV) != _0:
        _mark_main(mem, peek(mem, node + PREV) & UNTAG, state, seen, stack)


@kernel
def _visit_noted(mem: Handle, state: Array, seen: Array, stack: Array) -> None:
    while state[_HEIGHT] > _0 and state[_BAD] == _0:
        state[_HEIGHT] -= _1
        _visit(mem, stack[state[_HEIGHT]], state, seen, stack)


@kernel
def _walk(mem: Handle, state: Array, seen: Array, stack: Array) -> None:
    """Visit the nodes noted and postponed, and all nodes that they lead to."""
    _visit_noted(mem, state, seen, stack)
    while state[_LEFT] != _0 and state[_BAD] == _0:
        state[_LEFT] = _0
        for at in range(len(seen)):
            if seen[at] == _POSTPONED:
                seen[at] = _KNOWN
                _visit(mem, _FIRST + np.uint64(at), state, seen, stack)
                _visit_noted(mem, state, seen, stack)


@kernel
def _walk_trie(mem: Handle, trie: Word, state: Array, seen: Array, stack: Array) -> None:
    _mark(mem, trie, ROOT, state, seen, stack)
    _walk(mem, state, seen, stack)


@kernel
def _walk_cut_off(mem: Handle, i: Word, beheaded: Flag, state: Array, seen: Array, stack: Array) -> None:
    if beheaded:
        _mark_main(mem, peek(mem, i + MAIN), state, seen, stack)
    else:
        _mark(mem, i, I_NODE, state, seen, stack)
    _walk(mem, state, seen, stack)


class Reach:
    """What some tries of an arena reach, all together.

    Parameters
    ----------
    base : int
        Address of the arena.

    Attributes
    ----------
    words, nodes : int
        Size of everything found so far, rounded as allocated.
    seen : ndarray of uint8
        One element a word from the first that a node may occupy: not 0 where a node begins.
    stretches : list of (int, int)
        Offset and words of what is found whole and has no nodes: sketches.
    """

    def __init__(self, base: int) -> None:
        self._base = np.uint64(base)
        self._state = np.zeros(6, np.uint64)
        self._stack = np.zeros(_STACK, np.uint64)
        self.stretches: list[tuple[int, int]] = []
        self.seen: NDArray[Any] = np.zeros(int(_top(self._base)) - FIRST_NODE, np.uint8)

    @property
    def words(self) -> int:
        """Words of everything found so far, rounded as allocated."""
        return int(self._state[_WORDS])

    @property
    def nodes(self) -> int:
        """Nodes found so far."""
        return int(self._state[_NODES])

    def add(self, trie: int, entries: int = ANY_ENTRIES) -> None:
        """Walk a trie, which nobody may be changing.

        Parameters
        ----------
        trie : int
            Offset of its root record.
        entries : int
            What `latchfree_fsck.nodes.entries_kind` says of its keys and values: then the sizes of S-nodes are
            checked, too.

        Raises
        ------
        ArenaInvalid
            Where a link leads to something that cannot be the node it should be.
        """
        self._run(f"a link in the trie at word {trie}", entries, _walk_trie, np.uint64(trie))

    def add_stretch(self, start: int, words: int) -> None:
        """Add words that are one thing, and hold no links."""
        self._state[_WORDS] += np.uint64(words)
        self._state[_NODES] += _1
        self.stretches.append((start, words))

    def add_cut_off(self, i: int, *, beheaded: bool) -> None:
        """Walk the tree below an I-node in the range of nodes that waits to be freed; beheaded: its header is gone.

        Raises
        ------
        ArenaInvalid
            As `add`.
        """
        self._run(f"a link in the tree cut off at word {i}", ANY_ENTRIES, _walk_cut_off, np.uint64(i), beheaded)

    def _run(self, what: str, entries: int, walk: Callable[..., None], *start: Any) -> None:
        state = self._state
        state[_HEIGHT] = state[_LEFT] = state[_BAD] = 0
        state[_KIND] = entries
        walk(self._base, *start, state, self.seen, self._stack)
        bad = int(state[_BAD])
        if bad:
            raise ArenaInvalid(f"damaged: {what} leads to word {bad & ~int(TAG)}, no such node")


@kernel
def _top(mem: Handle) -> Word:
    return peek(mem, H_BUMP)
