"""Check the tree of one topic trie, as it is when every update in progress is decided; write the decisions on demand.

Example: the subscription ``a/b`` stands below the branch of ``a``. Moved below the branch of ``c``, by a flipped bit in
a link, the S-node is no longer where the string of its digits leads, and the walk reports it.

Invariant checked: that of a Ctrie (`latchfree_fsck.ctrie_tree`) with strings of digits in the place of a hash. Every
branch stands where its digit leads, every S-node where the string of its subscription does, and every number was given
out.

No word is trusted, and without `settle` none is written. The path is as long as a pattern may be, so it grows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.kernels.node import gen_of, kind_of, size_of
from latchfree.arena.layout import H_GENERATION
from latchfree.atomics import peek, trailing_zeros
from latchfree.ctrie.kernels.shape import (
    B_WORDS,
    BITMAP,
    BRANCH,
    C_NODE,
    DIGIT,
    NUMBERS,
    PLAIN,
    S_NODE,
    SLOTS,
    T_NODE,
    TAG,
    TOMBED,
)
from latchfree.ctrie.kernels.snode import KEY, KEY_LENGTH
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels.agree import WILD
from latchfree.topics.concurrent.kernels.digits import ANY_WORD, ANY_WORDS, first_word, stored_digit, word_after
from latchfree_fsck import claims
from latchfree_fsck.claims import (
    DEPTH,
    ENTRIES,
    MASK,
    MISPLACED,
    NEXT_NUMBER,
    NO_NODE,
    NOT_GIVEN,
    RULES,
    TOO_DEEP,
    WHY,
    Tree,
    claim,
    enter_main,
    enter_root,
    fail,
)
from latchfree_fsck.nodes import entries_kind

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_STRIDE = np.uint64(6)
_LAST_LEVEL = np.uint64(60)
_DIGIT_BITS = np.uint64(64)

#: C-nodes on a path, at first.
_FEW = 64

# A path: for each depth the next slot, what is left of the bitmap, the generation of the I-node, the digits before
# this one, the bits of this one that lead here, and how many those are.
_AT, _REST, _GEN, _DIGITS, _PREFIX, _LEVEL = range(6)


@kernel
def _begins(digit: Word, prefix: Word, bits: Word) -> Flag:
    """Whether the lowest `bits` bits of a digit are those of `prefix`."""
    return bits == _0 or (digit ^ prefix) << (_DIGIT_BITS - min(bits, _DIGIT_BITS)) == _0


@kernel
def _check_entry(
    mem: Handle, s: Word, gen: Word, count: Word, prefix: Word, bits: Word, digits: Array, state: Array, owned: Array
) -> Flag:
    """Claim an S-node below an I-node of generation `gen`, to which `count` digits and `bits` bits of the next lead."""
    if not claim(mem, s, S_NODE, gen, state, owned):
        return False
    rules, mask = state[RULES], state[MASK]
    length = peek(mem, s + KEY_LENGTH)
    at = first_word(mem, s)
    wild = _0
    k = _0
    while at <= length or k <= count:
        # Past the last word come END, at length + 1, and the number.
        digit = stored_digit(mem, s, rules, mask, at)
        if at > length + _2 or (k < count and digit != digits[k]) or (k == count and not _begins(digit, prefix, bits)):
            return fail(state, s, MISPLACED)
        if at <= length and digit in (ANY_WORD, ANY_WORDS):
            wild = WILD
        at = word_after(mem, s, rules, at)
        k += _1
    name = peek(mem, s + KEY)
    if name & WILD != wild:
        return fail(state, s, MISPLACED)
    if name >> _1 >= state[NEXT_NUMBER]:
        return fail(state, s, NOT_GIVEN)
    state[ENTRIES] += _1
    return True


@kernel
def _enter(
    mem: Handle,
    slot: Word,
    gen: Word,
    root_gen: Word,
    count: Word,
    prefix: Word,
    bits: Word,
    state: Array,
    path: Array,
    digits: Array,
    owned: Array,
) -> Flag:
    """Claim what is in a slot, to which `count` digits and `bits` bits of the next lead, and go down there."""
    while slot & TAG != _0:
        i = slot & PLAIN
        main = enter_main(mem, i, gen, root_gen, state, owned)
        if main == _0:
            return False
        is_branch = slot & BRANCH != _0
        if is_branch != (size_of(mem, i) == B_WORDS):
            return fail(state, i, NO_NODE)
        if is_branch:
            if not _begins(peek(mem, i + DIGIT), prefix, bits):
                return fail(state, i, MISPLACED)
            digits[count] = peek(mem, i + DIGIT)
            count += _1
            prefix = _0
            bits = _0
        gen = gen_of(mem, i)
        kind = kind_of(mem, main)
        if kind == C_NODE:
            if bits > _LAST_LEVEL or (bits == _LAST_LEVEL and peek(mem, main + BITMAP) >> np.uint64(16) != _0):
                return fail(state, main, TOO_DEEP)
            here = path[state[DEPTH]]
            here[_AT] = main + SLOTS
            here[_REST] = peek(mem, main + BITMAP)
            here[_GEN] = gen
            here[_DIGITS] = count
            here[_PREFIX] = prefix
            here[_LEVEL] = bits
            state[DEPTH] += _1
            return True
        if kind != T_NODE or state[DEPTH] == _0:
            return fail(state, main, NO_NODE)
        slot = peek(mem, main + TOMBED)
        if slot == _0:
            return True
        # Nothing, a subscription, or within a digit a branch; so one call adds one digit at most.
        if slot & TAG != _0 and (slot & BRANCH == _0 or bits == _0):
            return fail(state, main, NO_NODE)
    return _check_entry(mem, slot, gen, count, prefix, bits, digits, state, owned)


@kernel
def _longer(path: Array) -> Array:
    """Return a path with twice the room."""
    copy = np.zeros((2 * len(path), 6), np.uint64)
    copy[: len(path)] = path
    return copy


@kernel
def _check(mem: Handle, trie: Word, state: Array, owned: Array) -> None:
    root = enter_root(mem, trie, state, owned)
    if root == _0:
        return
    state[NEXT_NUMBER] = peek(mem, trie + NUMBERS)
    root_gen = gen_of(mem, root)
    path = np.zeros((_FEW, 6), np.uint64)
    digits = np.zeros(_FEW, np.uint64)
    _enter(mem, root | TAG, peek(mem, H_GENERATION), root_gen, _0, _0, _0, state, path, digits, owned)
    while state[DEPTH] > _0 and state[WHY] == _0:
        here = path[state[DEPTH] - _1]
        rest = here[_REST]
        if rest == _0:
            state[DEPTH] -= _1
            continue
        level = here[_LEVEL]
        prefix = here[_PREFIX] | (np.uint64(trailing_zeros(rest)) << level)
        slot = peek(mem, here[_AT])
        here[_REST] = rest & (rest - _1)
        here[_AT] += _1
        gen, count = here[_GEN], here[_DIGITS]
        if state[DEPTH] == np.uint64(len(path)):
            path = _longer(path)
        if count == np.uint64(len(digits)):
            digits = np.concatenate((digits, np.zeros_like(digits)))
        _enter(mem, slot, gen, root_gen, count, prefix, level + _STRIDE, state, path, digits, owned)


def walk(base: int, trie: int, *, hash_mask: int, rules: int, owned: NDArray[np.uint8], settle: bool = False) -> Tree:
    """Check the tree of a topic trie that nobody is changing.

    Parameters
    ----------
    rules : int
        Those of its dialect, as compiled code takes them.
    base, trie, hash_mask, owned, settle
        As for `latchfree_fsck.ctrie_tree.walk`.

    Raises
    ------
    ArenaInvalid
        If `settle` meets damage.
    """
    state = claims.new_state(owned, hash_mask=hash_mask, entries=entries_kind(False, False), settle=settle)
    state[RULES] = rules
    _check(np.uint64(base), np.uint64(trie), state, owned)
    return claims.outcome(state, trie)
