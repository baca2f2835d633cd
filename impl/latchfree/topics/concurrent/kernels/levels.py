"""C-nodes and I-nodes of a topic trie, which differ from the Ctrie's: branches carry a digit, and tombs may be empty.

Invariant: every function returns a node that no other thread can reach, stamped with the generation of its I-node. A
C-node below the root has two slots or more, or one plain I-node, or one branch where a digit starts; a smaller C-node
is a T-node instead.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT
from latchfree.atomics import peek, poke, popcount
from latchfree.ctrie.kernels.gcas import COMMITTED, NO_MEMORY, conclude, gcas_read
from latchfree.ctrie.kernels.mains import dual, removed_contracted, updated
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    CHILD,
    I_NODE,
    MAIN,
    NIL,
    ONE,
    SLOTS,
    STRIDE,
    gen_of,
    is_child,
    new_cnode,
    new_inode,
    new_node,
    new_tnode,
)
from latchfree.ctrie.kernels.retirement import begin_retiring, finish_retiring, retire_node
from latchfree.ctrie.kernels.shape import B_WORDS, BRANCH, DIGIT, PLAIN
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels.digits import first_word, stored_digit, word_after
from latchfree.words import flag_of, position

#: Branches one attempt makes at most, as many as its journal surely has room for.
MOST_BRANCHES = np.uint64(16)

# Where a C-node is: at the root; where a digit starts; within a digit.
AT_ROOT = np.uint64(0)
AT_START = np.uint64(1)
WITHIN = np.uint64(2)


@kernel
def place_of(depth: Word, level: Word) -> Word:
    """Return where the C-node is that has `depth` I-nodes above it and starts at bit `level` of its digit."""
    if depth == NIL:
        return AT_ROOT
    return AT_START if level == NIL else WITHIN


@kernel
def new_branch(mem: Handle, me: Word, main: Word, digit: Word, gen: Word) -> Word:
    """Return a slot with a new branch."""
    i = new_node(mem, me, I_NODE, B_WORDS, gen)
    poke(mem, i + MAIN, main)
    poke(mem, i + DIGIT, digit)
    return i | CHILD | BRANCH


@kernel
def _contracts(slot: Word, place: Word) -> Flag:
    """Return whether a C-node that has only this slot is a T-node instead."""
    if place == AT_ROOT:
        return False
    return not is_child(slot) or (slot & BRANCH != NIL and place == WITHIN)


@kernel
def without(mem: Handle, me: Word, c: Word, flag: Word, place: Word, gen: Word) -> Word:
    """Return `c` without the slot of `flag`, contracted."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    if place != AT_ROOT and n == ONE:
        return new_tnode(mem, me, NIL, gen)
    if n == ONE + ONE:
        other = peek(mem, c + SLOTS + (ONE - position(bitmap, flag)))
        if _contracts(other, place):
            return new_tnode(mem, me, other, gen)
    return removed_contracted(mem, me, c, flag, NIL, gen)


@kernel
def resolved(mem: Handle, me: Word, c: Word, flag: Word, content: Word, place: Word, gen: Word) -> Word:
    """Return `c` with the content of a tomb in the slot of `flag`, contracted."""
    if content == NIL:
        return without(mem, me, c, flag, place, gen)
    if popcount(peek(mem, c + BITMAP)) == ONE and _contracts(content, place):
        return new_tnode(mem, me, content, gen)
    return updated(mem, me, c, flag, content, gen)


@kernel
def _renewed(mem: Handle, trie: Word, me: Word, c: Word, gen: Word) -> Word:
    """Return `c` with every child of another generation copied; children of `gen` stay (copying them is mutant S1)."""
    bitmap = peek(mem, c + BITMAP)
    n = popcount(bitmap)
    new = new_cnode(mem, me, bitmap, n, gen)
    for k in range(n):
        slot = peek(mem, c + SLOTS + np.uint64(k))
        child = slot & PLAIN
        if is_child(slot) and gen_of(mem, child) != gen:
            main = gcas_read(mem, trie, child)
            if slot & BRANCH != NIL:
                slot = new_branch(mem, me, main, peek(mem, child + DIGIT), gen)
            else:
                slot = new_inode(mem, me, main, gen) | CHILD
        poke(mem, new + SLOTS + np.uint64(k), slot)
    return new


@kernel
def renew(mem: Handle, trie: Word, me: Word, i: Word, m: Word, gen: Word) -> Word:
    """Bring the children of C-node `m`, the main of `i`, to `gen`: an outcome of `gcas`, or NO_MEMORY."""
    if not begin(mem, me, URGENT):
        return NO_MEMORY
    new = _renewed(mem, trie, me, m, gen)
    outcome = conclude(mem, trie, me, i, m, new)
    if outcome == COMMITTED:
        slots = popcount(peek(mem, m + BITMAP))
        begin_retiring(mem, trie, me, gen, slots + ONE)
        for k in range(slots):
            child = peek(mem, m + SLOTS + np.uint64(k))
            if child != peek(mem, new + SLOTS + np.uint64(k)):
                retire_node(mem, me, child & PLAIN)  # its main lives on in the copy
        retire_node(mem, me, m)
        finish_retiring(mem, me)
    return outcome


@kernel
def shared_digits(mem: Handle, slot: Word, rules: Word, mask: Word, digits: Array, k: Word) -> tuple[Word, Word]:
    """Return how many digits (at most 16) a slot shares with `digits` from digit `k` on, and the slot's next digit."""
    if is_child(slot):
        return NIL, peek(mem, (slot & PLAIN) + DIGIT)
    at = first_word(mem, slot)
    for _ in range(k):
        at = word_after(mem, slot, rules, at)
    shared = NIL
    digit = stored_digit(mem, slot, rules, mask, at)
    while shared < MOST_BRANCHES and digit == digits[k + shared]:
        shared += ONE
        at = word_after(mem, slot, rules, at)
        digit = stored_digit(mem, slot, rules, mask, at)
    return shared, digit


@kernel
def both(
    mem: Handle, me: Word, old: Word, digit: Word, s: Word, digits: Array, k: Word, shared: Word, level: Word, gen: Word
) -> Word:
    """Return a slot for `old`, the content of a slot, and S-node `s`, which share `shared` digits from `k` on.

    `digit` is the next digit of `old`. Where `s` is NIL, `old` is alone below the branches for the shared digits.
    """
    if shared == NIL:
        return dual(mem, me, old, digit, s, digits[k], level + STRIDE, gen) | CHILD
    mine = flag_of(digits[k + shared], NIL)
    its = flag_of(digit, NIL)
    if s == NIL:
        main = new_cnode(mem, me, its, ONE, gen)
        poke(mem, main + SLOTS, old)
    elif mine == its:
        main = new_cnode(mem, me, its, ONE, gen)
        poke(mem, main + SLOTS, dual(mem, me, old, digit, s, digits[k + shared], STRIDE, gen) | CHILD)
    else:
        main = new_cnode(mem, me, mine | its, ONE + ONE, gen)
        poke(mem, main + SLOTS, s if mine < its else old)
        poke(mem, main + SLOTS + ONE, old if mine < its else s)
    slot = new_branch(mem, me, main, digits[k + shared - ONE], gen)
    for n in range(ONE, shared):
        below = k + shared - np.uint64(n)
        main = new_cnode(mem, me, flag_of(digits[below], NIL), ONE, gen)
        poke(mem, main + SLOTS, slot)
        slot = new_branch(mem, me, main, digits[below - ONE], gen)
    return slot
