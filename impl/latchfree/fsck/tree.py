"""The tree of one trie as it is when every update in progress is decided: checked strictly, and settled on demand.

Invariant checked: from the root record, each node is reached by exactly one link and shares no word with another; no
path is longer than the hash; every S-node is where its key's hash leads; no node is younger than the I-node above
it or older than the trie. So whoever reads or changes the trie afterwards never leaves the nodes found here.

No word is trusted, and without `settle` none is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.layout import FIRST_NODE, H_GENERATION
from latchfree.arena.shape import (
    BITMAP,
    C_NODE,
    COUNT,
    DROP_LOCK,
    ENTRIES,
    FAILED,
    HASH_MASK,
    I_NODE,
    IS_FORK,
    L_NODE,
    MAIN,
    PENDING,
    PREV,
    RDCSS,
    REGISTERED,
    ROOT,
    ROOT_WORD,
    S_NODE,
    SLOTS,
    SNAPSHOTS,
    T_NODE,
    TAG,
    TOMBED,
    UNTAG,
    gen_of,
    kind_of,
)
from latchfree.atomics import peek, poke, trailing_zeros
from latchfree.ctrie.entries import BLOB_KEY_WORDS, KEY, KEY_LENGTH
from latchfree.ctrie.root import COMMIT, EXPECTED, NEW, OLD, STATUS, UNDECIDED
from latchfree.ctrie.whole import whole
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.words import hash_bytes, mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)
_ALL = np.uint64((1 << 64) - 1)
_STRIDE = np.uint64(6)
_LAST_LEVEL = np.uint64(60)
_HASH_BITS = np.uint64(64)
_WORD_KEYS = np.uint64(1)
_BYTES = np.uint64(8)

#: C-nodes on a path, and an L- or T-node.
_DEPTH = 12

# A path: for each depth the main, what is left of its bitmap (or the next entry), the generation of its I-node, and
# the bits of the hash that lead to it.
_AT, _REST, _GEN, _PREFIX = range(4)

# State of a walk: entries, nodes and words found, the offender and what is wrong with it; then what all parts need.
_ENTRIES, _NODES, _WORDS, _BAD, _WHY, _LIMIT, _MASK, _BIRTH, _KIND, _SETTLE, _DEEP = range(11)

_NO_NODE = np.uint64(1)
_TWICE = np.uint64(2)
_MISPLACED = np.uint64(3)
_TOO_DEEP = np.uint64(4)
_AGE = np.uint64(5)
_UNDECIDED = np.uint64(6)
_OTHER_MASK = np.uint64(7)
_REASONS = {
    1: "is no such node",
    2: "shares words with another node",
    3: "is not where the hash of its key leads",
    4: "is where no path of the hash leads",
    5: "is of an impossible generation",
    6: "is an update that follows another undecided one",
    7: "has another hash mask than the directory says",
}


@kernel
def _fail(state: Array, node: Word, why: Word) -> Flag:
    if state[_WHY] == _0:
        state[_BAD], state[_WHY] = node, why
    return False


@kernel
def _claim(mem: Handle, node: Word, kind: Word, gen: Word, state: Array, owned: Array) -> Flag:
    """Make the words of a node, born at `gen` at the latest, the trie's own."""
    words = whole(mem, node, state[_LIMIT], kind, state[_KIND])
    if words == _0:
        return _fail(state, node, _NO_NODE)
    for k in range(node - _FIRST, node - _FIRST + words):
        if owned[k] != 0:
            return _fail(state, node, _TWICE)
        owned[k] = 1
    birth = gen_of(mem, node)
    if birth < state[_BIRTH] or birth > gen:
        return _fail(state, node, _AGE)
    state[_NODES] += _1
    state[_WORDS] += words
    return True


@kernel
def _inside(node: Word, state: Array) -> Flag:
    return node >= _FIRST and node < state[_LIMIT]


@kernel
def _main_kind(mem: Handle, main: Word, state: Array) -> Word:
    """Kind of a main node, NIL for anything that is none, or not whole."""
    if not _inside(main, state):
        return _0
    kind = kind_of(mem, main)
    if kind != C_NODE and kind != T_NODE and kind != L_NODE:
        return _0
    return kind if whole(mem, main, state[_LIMIT], kind, state[_KIND]) != _0 else _0


@kernel
def _decided(mem: Handle, i: Word, root_gen: Word, state: Array) -> Word:
    """The main of an I-node (which is whole) once the update in progress is decided; NIL if that is damaged."""
    main = peek(mem, i + MAIN)
    if _main_kind(mem, main, state) == _0:
        _fail(state, main, _NO_NODE)
        return _0
    prev = peek(mem, main + PREV)
    if prev == _0 or (prev & FAILED == _0 and gen_of(mem, i) == root_gen):
        return main
    main = prev & UNTAG
    if _main_kind(mem, main, state) == _0:
        _fail(state, main, _NO_NODE)
        return _0
    if peek(mem, main + PREV) != _0:
        _fail(state, main, _UNDECIDED)
        return _0
    return main


@kernel
def _root(mem: Handle, trie: Word, state: Array) -> Word:
    """The root I-node once the replacement in progress is decided; NIL if that is damaged."""
    word = peek(mem, trie + ROOT_WORD)
    if word & PENDING == _0:
        return word
    d = word & UNTAG
    if whole(mem, d, state[_LIMIT], RDCSS, _0) == _0:
        _fail(state, d, _NO_NODE)
        return _0
    old = peek(mem, d + OLD)
    if peek(mem, d + STATUS) == COMMIT:
        return peek(mem, d + NEW)
    if peek(mem, d + STATUS) == UNDECIDED:
        if whole(mem, old, state[_LIMIT], I_NODE, _0) == _0:
            _fail(state, old, _NO_NODE)
            return _0
        if _decided(mem, old, gen_of(mem, old), state) == peek(mem, d + EXPECTED):
            return peek(mem, d + NEW)
    return old


@kernel
def _check_entry(mem: Handle, node: Word, gen: Word, prefix: Word, bits: Word, state: Array, owned: Array) -> Flag:
    """Claim an S-node below an I-node of generation `gen`, to which `bits` bits of the hash lead."""
    if not _claim(mem, node, S_NODE, gen, state, owned):
        return False
    if state[_KIND] & _WORD_KEYS != _0:
        h = mix(peek(mem, node + KEY))
    else:
        h = hash_bytes(np.uint64(mem) + _BYTES * (node + BLOB_KEY_WORDS), peek(mem, node + KEY_LENGTH))
        if h != peek(mem, node + KEY):
            return _fail(state, node, _MISPLACED)
    taken = _ALL if bits >= _HASH_BITS else (_1 << bits) - _1
    if (h & state[_MASK]) & taken != prefix:
        return _fail(state, node, _MISPLACED)
    state[_ENTRIES] += _1
    return True


@kernel
def _enter(
    mem: Handle, i: Word, gen: Word, root_gen: Word, prefix: Word, state: Array, path: Array, owned: Array
) -> Flag:
    """Claim an I-node and its main and go down there; T- and L-nodes are done with at once."""
    depth = state[_DEEP]
    if depth >= np.uint64(_DEPTH):
        return _fail(state, i, _TOO_DEEP)
    if not _claim(mem, i, I_NODE, gen, state, owned):
        return False
    own = gen_of(mem, i)
    main = _decided(mem, i, root_gen, state)
    if main == _0:
        return False
    kind = _main_kind(mem, main, state)
    if not _claim(mem, main, kind, own, state, owned):
        return False
    if state[_SETTLE] != _0:
        poke(mem, i + MAIN, main)
        poke(mem, main + PREV, _0)
    level = depth * _STRIDE
    if kind == T_NODE:
        if depth == _0:
            return _fail(state, main, _NO_NODE)
        return _check_entry(mem, peek(mem, main + TOMBED), own, prefix, level, state, owned)
    if kind == L_NODE:
        if level <= _LAST_LEVEL:
            return _fail(state, main, _TOO_DEEP)
        for k in range(peek(mem, main + COUNT)):
            if not _check_entry(mem, peek(mem, main + ENTRIES + np.uint64(k)), own, prefix, level, state, owned):
                return False
        return True
    if level > _LAST_LEVEL or (level == _LAST_LEVEL and peek(mem, main + BITMAP) >> np.uint64(16) != _0):
        return _fail(state, main, _TOO_DEEP)
    path[depth, _AT], path[depth, _REST], path[depth, _GEN], path[depth, _PREFIX] = (
        main + SLOTS,
        peek(mem, main + BITMAP),
        own,
        prefix,
    )
    state[_DEEP] = depth + _1
    return True


@kernel
def _check_slots(mem: Handle, root_gen: Word, state: Array, path: Array, owned: Array) -> None:
    """Check everything below the C-node on the path."""
    while state[_DEEP] > _0:
        depth = state[_DEEP] - _1
        rest = path[depth, _REST]
        if rest == _0:
            state[_DEEP] = depth
            continue
        at, gen = path[depth, _AT], path[depth, _GEN]
        level = depth * _STRIDE
        prefix = path[depth, _PREFIX] | (np.uint64(trailing_zeros(rest)) << level)
        path[depth, _REST] = rest & (rest - _1)
        path[depth, _AT] = at + _1
        slot = peek(mem, at)
        if slot & TAG != _0:
            good = _enter(mem, slot & UNTAG, gen, root_gen, prefix, state, path, owned)
        else:
            good = _check_entry(mem, slot, gen, prefix, level + _STRIDE, state, owned)
        if not good:
            return


@kernel
def _check(mem: Handle, trie: Word, state: Array, path: Array, owned: Array) -> None:
    if not _claim(mem, trie, ROOT, peek(mem, H_GENERATION), state, owned):
        return
    state[_BIRTH] = gen_of(mem, trie)
    if peek(mem, trie + HASH_MASK) != state[_MASK]:
        _fail(state, trie, _OTHER_MASK)
        return
    root = _root(mem, trie, state)
    if state[_WHY] != _0:
        return
    if state[_SETTLE] != _0:
        poke(mem, trie + ROOT_WORD, root)
        for field in (SNAPSHOTS, REGISTERED, DROP_LOCK, IS_FORK):
            poke(mem, trie + field, _0)
    if whole(mem, root, state[_LIMIT], I_NODE, _0) == _0:
        _fail(state, root, _NO_NODE)
        return
    if _enter(mem, root, peek(mem, H_GENERATION), gen_of(mem, root), _0, state, path, owned):
        _check_slots(mem, gen_of(mem, root), state, path, owned)


class Tree:
    """What `walk` found.

    Attributes
    ----------
    entries, nodes, words : int
        How many of each, as far as the walk came.
    damage : str or None
        What is wrong, if anything is.
    """

    def __init__(self, state: NDArray[np.uint64], trie: int) -> None:
        self.entries, self.nodes, self.words, bad, why = state[: _WHY + 1].tolist()
        self.damage = f"word {bad} {_REASONS[why]}, but the trie at word {trie} leads there" if why else None


def walk(base: int, trie: int, *, hash_mask: int, entries: int, owned: NDArray[np.uint8], settle: bool = False) -> Tree:
    """Check the tree of a trie that nobody is changing.

    Parameters
    ----------
    base : int
        Address of the arena.
    trie : int
        Offset of the root record.
    hash_mask : int
        What the directory says of it.
    entries : int
        Kind of its entries, see `latchfree.ctrie.whole.entries_kind`.
    owned : ndarray of uint8
        One element a word from the first that a node may occupy to the last in use; those of nodes become 1.
    settle : bool
        Also write the decisions, and forget all snapshots. Only for a trie in which a walk has found no damage.

    Raises
    ------
    ArenaInvalid
        If `settle` meets damage.
    """
    state = np.zeros(11, np.uint64)
    state[_LIMIT] = FIRST_NODE + len(owned)
    state[_MASK], state[_KIND], state[_SETTLE] = hash_mask, entries, settle
    path: NDArray[Any] = np.zeros((_DEPTH, 4), np.uint64)
    _check(np.uint64(base), np.uint64(trie), state, path, owned)
    tree = Tree(state, trie)
    if settle and tree.damage:
        raise ArenaInvalid(tree.damage)
    return tree
