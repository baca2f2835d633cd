"""Check the tree of one Ctrie, as it is when every update in progress is decided; write the decisions on demand.

Example: a flipped bit in the key of an S-node changes the hash of the key. The walk compares the hash with the path
that led to the node, and reports the word of the node as damage.

Invariant checked: from the root record, each node is reached by exactly one link and shares no word with another; no
path is longer than the hash; every S-node is where its key's hash leads; no node is younger than the I-node above
or older than the trie. So whoever reads or changes the trie afterwards never leaves the nodes found here.

No word is trusted, and without `settle` none is written.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.kernels.node import gen_of, kind_of
from latchfree.arena.layout import H_GENERATION
from latchfree.atomics import peek, trailing_zeros
from latchfree.ctrie.kernels.shape import BITMAP, COUNT, ENTRIES, L_NODE, S_NODE, SLOTS, T_NODE, TAG, TOMBED, UNTAG
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY, KEY_LENGTH
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.words import hash_bytes, mix
from latchfree_fsck import claims
from latchfree_fsck.claims import KIND, MASK, MISPLACED, NO_NODE, TOO_DEEP, Tree, claim, enter_main, enter_root, fail

_0 = np.uint64(0)
_1 = np.uint64(1)
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

_DEEP = claims.DEPTH
_FOUND = claims.ENTRIES


@kernel
def _check_entry(mem: Handle, node: Word, gen: Word, prefix: Word, bits: Word, state: Array, owned: Array) -> Flag:
    """Claim an S-node below an I-node of generation `gen`, to which `bits` bits of the hash lead."""
    if not claim(mem, node, S_NODE, gen, state, owned):
        return False
    if state[KIND] & _WORD_KEYS != _0:
        h = mix(peek(mem, node + KEY))
    else:
        h = hash_bytes(np.uint64(mem) + _BYTES * (node + BLOB_KEY_WORDS), peek(mem, node + KEY_LENGTH))
        if h != peek(mem, node + KEY):
            return fail(state, node, MISPLACED)
    taken = _ALL if bits >= _HASH_BITS else (_1 << bits) - _1
    if (h & state[MASK]) & taken != prefix:
        return fail(state, node, MISPLACED)
    state[_FOUND] += _1
    return True


@kernel
def _enter(
    mem: Handle, i: Word, gen: Word, root_gen: Word, prefix: Word, state: Array, path: Array, owned: Array
) -> Flag:
    """Claim an I-node and its main and go down there; T- and L-nodes are done with at once."""
    depth = state[_DEEP]
    if depth >= np.uint64(_DEPTH):
        return fail(state, i, TOO_DEEP)
    main = enter_main(mem, i, gen, root_gen, state, owned)
    if main == _0:
        return False
    kind = kind_of(mem, main)
    own = gen_of(mem, i)
    level = depth * _STRIDE
    if kind == T_NODE:
        if depth == _0:
            return fail(state, main, NO_NODE)
        return _check_entry(mem, peek(mem, main + TOMBED), own, prefix, level, state, owned)
    if kind == L_NODE:
        if level <= _LAST_LEVEL:
            return fail(state, main, TOO_DEEP)
        for k in range(peek(mem, main + COUNT)):
            if not _check_entry(mem, peek(mem, main + ENTRIES + np.uint64(k)), own, prefix, level, state, owned):
                return False
        return True
    if level > _LAST_LEVEL or (level == _LAST_LEVEL and peek(mem, main + BITMAP) >> np.uint64(16) != _0):
        return fail(state, main, TOO_DEEP)
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
    root = enter_root(mem, trie, state, owned)
    if root == _0:
        return
    root_gen = gen_of(mem, root)
    if _enter(mem, root, peek(mem, H_GENERATION), root_gen, _0, state, path, owned):
        _check_slots(mem, root_gen, state, path, owned)


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
        Kind of its entries, see `latchfree_fsck.nodes.entries_kind`.
    owned : ndarray of uint8
        One element a word from the first that a node may occupy to the last in use; those of nodes become 1.
    settle : bool
        Also write the decisions, and forget all snapshots. Only for a trie in which a walk has found no damage.

    Raises
    ------
    ArenaInvalid
        If `settle` meets damage.
    """
    state = claims.new_state(owned, hash_mask=hash_mask, entries=entries, settle=settle)
    path = np.zeros((_DEPTH, 4), np.uint64)
    _check(np.uint64(base), np.uint64(trie), state, path, owned)
    return claims.outcome(state, trie)
