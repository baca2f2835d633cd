"""Claim each node of a tree at rest once, and see the tree as it is when every update in progress is decided.

Example: a process was killed after it had installed a main and before it had cleared ``prev``. The update counts if the
trie's root still has the generation of the I-node; else the old main does. The walk goes on from the one that counts.
So would a reader; a snapshot taken before any reader came there leaves the update out.

No word is trusted: a node is looked at only after it was found to be whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.kernels.node import gen_of, kind_of
from latchfree.arena.layout import FIRST_NODE, H_GENERATION
from latchfree.atomics import peek, poke
from latchfree.ctrie.kernels.gcas import COMMIT, EXPECTED, NEW, OLD, STATUS, UNDECIDED
from latchfree.ctrie.kernels.shape import (
    C_NODE,
    DROP_LOCK,
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
    SNAPSHOTS,
    T_NODE,
    UNTAG,
)
from latchfree.errors import ArenaInvalid
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree_fsck.nodes import node_words

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(FIRST_NODE)

# State of a walk: entries, nodes and words found, the offender and what is wrong with it; then what all parts need;
# the last three are of the walk itself.
ENTRIES, NODES, WORDS, BAD, WHY, LIMIT, MASK, BIRTH, KIND, SETTLE, DEPTH, RULES, NEXT_NUMBER = range(13)
STATE_WORDS = 13

NO_NODE = np.uint64(1)
_TWICE = np.uint64(2)
MISPLACED = np.uint64(3)
TOO_DEEP = np.uint64(4)
_AGE = np.uint64(5)
_UNDECIDED_TWICE = np.uint64(6)
_OTHER_MASK = np.uint64(7)
NOT_GIVEN = np.uint64(8)
_REASONS = {
    1: "is no such node",
    2: "shares words with another node",
    3: "is not where the hash of its key leads",
    4: "is where no path of the hash leads",
    5: "is of an impossible generation",
    6: "is an update that follows another undecided one",
    7: "has another hash mask than the directory says",
    8: "has a number that no subscription was given",
}


@kernel
def fail(state: Array, node: Word, why: Word) -> Flag:
    """Note the first offender of a walk and what is wrong with it; always False."""
    if state[WHY] == _0:
        state[BAD], state[WHY] = node, why
    return False


@kernel
def claim(mem: Handle, node: Word, kind: Word, gen: Word, state: Array, owned: Array) -> Flag:
    """Make the words of a node, born at `gen` at the latest, the trie's own; False if they cannot be."""
    words = node_words(mem, node, state[LIMIT], kind, state[KIND])
    if words == _0:
        return fail(state, node, NO_NODE)
    for k in range(node - _FIRST, node - _FIRST + words):
        if owned[k] != 0:
            return fail(state, node, _TWICE)
        owned[k] = 1
    birth = gen_of(mem, node)
    if birth < state[BIRTH] or birth > gen:
        return fail(state, node, _AGE)
    state[NODES] += _1
    state[WORDS] += words
    return True


@kernel
def _inside(node: Word, state: Array) -> Flag:
    return node >= _FIRST and node < state[LIMIT]


@kernel
def _main_kind(mem: Handle, main: Word, state: Array) -> Word:
    """Return the kind of a main node, NIL for anything that is no main node, or not whole."""
    if not _inside(main, state):
        return _0
    kind = kind_of(mem, main)
    if kind != C_NODE and kind != T_NODE and kind != L_NODE:
        return _0
    return kind if node_words(mem, main, state[LIMIT], kind, state[KIND]) != _0 else _0


@kernel
def _decided(mem: Handle, i: Word, root_gen: Word, state: Array) -> Word:
    """Return the main of an I-node (which is whole) once the update in progress is decided; NIL if it is damaged."""
    main = peek(mem, i + MAIN)
    if _main_kind(mem, main, state) == _0:
        fail(state, main, NO_NODE)
        return _0
    prev = peek(mem, main + PREV)
    if prev == _0 or (prev & FAILED == _0 and gen_of(mem, i) == root_gen):
        return main
    main = prev & UNTAG
    if _main_kind(mem, main, state) == _0:
        fail(state, main, NO_NODE)
        return _0
    if peek(mem, main + PREV) != _0:
        fail(state, main, _UNDECIDED_TWICE)
        return _0
    return main


@kernel
def _root_of(mem: Handle, trie: Word, state: Array) -> Word:
    """Return the root I-node once the replacement in progress is decided; NIL if it is damaged."""
    word = peek(mem, trie + ROOT_WORD)
    if word & PENDING == _0:
        return word
    d = word & UNTAG
    if node_words(mem, d, state[LIMIT], RDCSS, _0) == _0:
        fail(state, d, NO_NODE)
        return _0
    old = peek(mem, d + OLD)
    if peek(mem, d + STATUS) == COMMIT:
        return peek(mem, d + NEW)
    if peek(mem, d + STATUS) == UNDECIDED:
        if node_words(mem, old, state[LIMIT], I_NODE, _0) == _0:
            fail(state, old, NO_NODE)
            return _0
        if _decided(mem, old, gen_of(mem, old), state) == peek(mem, d + EXPECTED):
            return peek(mem, d + NEW)
    return old


@kernel
def enter_root(mem: Handle, trie: Word, state: Array, owned: Array) -> Word:
    """Claim a root record; returns its root I-node, decided but not claimed, NIL if that is damaged."""
    if not claim(mem, trie, ROOT, peek(mem, H_GENERATION), state, owned):
        return _0
    state[BIRTH] = gen_of(mem, trie)
    if peek(mem, trie + HASH_MASK) != state[MASK]:
        fail(state, trie, _OTHER_MASK)
        return _0
    root = _root_of(mem, trie, state)
    if state[WHY] != _0:
        return _0
    if state[SETTLE] != _0:
        poke(mem, trie + ROOT_WORD, root)
        for field in (SNAPSHOTS, REGISTERED, DROP_LOCK, IS_FORK):
            poke(mem, trie + field, _0)
    if node_words(mem, root, state[LIMIT], I_NODE, _0) == _0:
        fail(state, root, NO_NODE)
        return _0
    return root


@kernel
def enter_main(mem: Handle, i: Word, gen: Word, root_gen: Word, state: Array, owned: Array) -> Word:
    """Claim an I-node below one of generation `gen`, and its main, which is returned; NIL if either is damaged."""
    if not claim(mem, i, I_NODE, gen, state, owned):
        return _0
    main = _decided(mem, i, root_gen, state)
    if main == _0 or not claim(mem, main, _main_kind(mem, main, state), gen_of(mem, i), state, owned):
        return _0
    if state[SETTLE] != _0:
        poke(mem, i + MAIN, main)
        poke(mem, main + PREV, _0)
    return main


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
        self.damage: str | None
        self.entries, self.nodes, self.words, bad, why = state[: WHY + 1].tolist()
        self.damage = f"word {bad} {_REASONS[why]}, but the trie at word {trie} leads there" if why else None

    @classmethod
    def unknown(cls, damage: str) -> Tree:
        """Return a tree that nobody can walk, and why."""
        tree = cls(np.zeros(STATE_WORDS, np.uint64), 0)
        tree.damage = damage
        return tree


def new_state(owned: NDArray[np.uint8], *, hash_mask: int, entries: int, settle: bool) -> NDArray[np.uint64]:
    """Return the state of a walk that begins."""
    state = np.zeros(STATE_WORDS, np.uint64)
    state[LIMIT] = FIRST_NODE + len(owned)
    state[MASK], state[KIND], state[SETTLE] = hash_mask, entries, settle
    return state


def outcome(state: NDArray[np.uint64], trie: int) -> Tree:
    """Return what the walk of a trie found.

    Raises
    ------
    ArenaInvalid
        If it met damage while settling.
    """
    tree = Tree(state, trie)
    if state[SETTLE] and tree.damage:
        raise ArenaInvalid(tree.damage)
    return tree
