"""Subscribe, unsubscribe, and clean the tombs that an unsubscription leaves.

LP of a change: the root read of the GCAS that commits it. LP of a refusal: the read of the main that shows it.
"""

import numpy as np

from latchfree.arena.kernels.allocator import ORDINARY, URGENT
from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import COMMITTED, NO_MEMORY, conclude, gcas_read, read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.mains import inserted, updated
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    HASH_MASK,
    NIL,
    ONE,
    STRIDE,
    T_NODE,
    TOMBED,
    gen_of,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.retirement import begin_retiring, finish_retiring, retire_node, retire_pair
from latchfree.ctrie.kernels.shape import BRANCH, DIGIT, PLAIN
from latchfree.ctrie.kernels.snode import KEY, new_snode
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Key, Value, Word
from latchfree.topics.concurrent.kernels.levels import (
    MOST_BRANCHES,
    both,
    place_of,
    renew,
    resolved,
    shared_digits,
    without,
)
from latchfree.words import flag_of

TWO = np.uint64(2)
_THREE = np.uint64(3)
LEVEL = np.uint64(255)
SHIFT = np.uint64(8)

# Outcomes of a descent, and of a step of it.
_HERE = np.uint64(0)  # the place of the string is in this C-node
_RESTART = np.uint64(1)
_NO_ROOM = np.uint64(2)
_BELOW = np.uint64(3)  # it is below the child in the slot
_AGAIN = np.uint64(4)  # the children were renewed


@kernel
def clean(mem: Handle, trie: Word, me: Word, path: Array, depth: Word, digits: Array, startgen: Word) -> Flag:
    """If the I-node at `depth` of a path is tombed, put the content of its tomb in its place in the I-node above.

    Return False if there is no memory. Give up when the slot no longer points to the I-node (another thread cleaned) or
    when a snapshot has changed the generation. A tomb left behind is correct; the next change that meets a tomb cleans
    it.
    """
    i = path[TWO * depth]
    parent = path[TWO * (depth - ONE)]
    where = path[TWO * (depth - ONE) + ONE]
    level = where & LEVEL
    digit = digits[where >> SHIFT]
    while True:
        tomb = gcas_read(mem, trie, i)
        if kind_of(mem, tomb) != T_NODE:
            return True
        # spec: TopicTrie!CleanMain
        m = gcas_read(mem, trie, parent)
        if kind_of(mem, m) != C_NODE:
            return True
        slot = slot_for(mem, m, digit, level)
        if not is_child(slot) or slot & PLAIN != i:
            return True
        if not begin(mem, me, URGENT):
            return False
        gen = gen_of(mem, parent)
        content = peek(mem, tomb + TOMBED)
        new = resolved(mem, me, m, flag_of(digit, level), content, place_of(depth - ONE, level), gen)
        # spec: TopicTrie!CleanCas
        outcome = conclude(mem, trie, me, parent, m, new)
        if outcome == NO_MEMORY:
            return False
        if outcome == COMMITTED:
            begin_retiring(mem, trie, me, gen, _THREE)
            retire_node(mem, me, m)
            retire_node(mem, me, i)
            retire_node(mem, me, tomb)
            finish_retiring(mem, me)
            return True
        if gen_of(mem, read_root(mem, trie)) != startgen:
            return True


@kernel
def _step(mem: Handle, trie: Word, me: Word, i: Word, m: Word, slot: Word, digit: Word, startgen: Word) -> Word:
    """Return whether a descent ends at C-node `m` of `i`, whose slot for `digit` is `slot`, or goes on below."""
    if not is_child(slot):
        return _HERE
    child = slot & PLAIN
    if slot & BRANCH != NIL and peek(mem, child + DIGIT) != digit:
        return _HERE
    if gen_of(mem, child) == startgen:
        return _BELOW
    # spec: Ctrie!GcasCas -- inside.
    outcome = renew(mem, trie, me, i, m, startgen)
    if outcome == NO_MEMORY:
        return _NO_ROOM
    return _AGAIN if outcome == COMMITTED else _RESTART


@kernel
def _descend(
    mem: Handle, trie: Word, me: Word, digits: Array, path: Array, depth: Word, startgen: Word
) -> tuple[Word, Word, Word, Word]:
    """Go down from the I-node at `depth` of a path to the place of a string.

    Return the outcome, and for HERE the depth of the last I-node, its main and the slot. An entry of the path is two
    words: an I-node; the index of its digit, with the number of bits of the digit that are used up.
    """
    while True:
        i = path[TWO * depth]
        where = path[TWO * depth + ONE]
        # spec: TopicTrie!ReadMain
        m = gcas_read(mem, trie, i)
        if kind_of(mem, m) == T_NODE:
            cleaned = clean(mem, trie, me, path, depth, digits, startgen)
            return _RESTART if cleaned else _NO_ROOM, depth, m, NIL
        digit = digits[where >> SHIFT]
        slot = slot_for(mem, m, digit, where & LEVEL)
        step = _step(mem, trie, me, i, m, slot, digit, startgen)
        if step == _BELOW:
            depth += ONE
            path[TWO * depth] = slot & PLAIN
            path[TWO * depth + ONE] = where + STRIDE if slot & BRANCH == NIL else ((where >> SHIFT) + ONE) << SHIFT
        elif step != _AGAIN:
            return step, depth, m, slot


@kernel
def _start(mem: Handle, trie: Word, path: Array) -> Word:
    """Begin a path at the root; return the root's generation."""
    i = read_root(mem, trie)
    path[0] = i
    path[1] = NIL
    return gen_of(mem, i)


@kernel
def subscribe(
    mem: Handle, trie: Word, me: Word, rules: Word, digits: Array, path: Array, name: Word, text: Key, value: Value
) -> Word:
    """Add a subscription of the pattern `text`, whose string is `digits`; `name` is its number and the flag WILD.

    The caller must be pinned. `path` is scratch, two words for each I-node. Return `name`, or FULL if there was no
    room: then nothing is subscribed.
    """
    mask = peek(mem, trie + HASH_MASK)
    while True:
        startgen = _start(mem, trie, path)
        depth = NIL
        while True:
            outcome, depth, m, slot = _descend(mem, trie, me, digits, path, depth, startgen)
            if outcome == _RESTART:
                break
            if outcome == _NO_ROOM:
                return FULL
            k = path[TWO * depth + ONE] >> SHIFT
            level = path[TWO * depth + ONE] & LEVEL
            shared, other = NIL, NIL
            if slot != NIL:
                shared, other = shared_digits(mem, slot, rules, mask, digits, k)
            if not begin(mem, me, ORDINARY):
                return FULL
            partly = shared == MOST_BRANCHES
            s = NIL if partly else new_snode(mem, me, text, name, value, startgen)
            if slot == NIL:
                new = inserted(mem, me, m, flag_of(digits[k], level), s, startgen)
            else:
                below = both(mem, me, slot, other, s, digits, k, shared, level, startgen)
                new = updated(mem, me, m, flag_of(digits[k], level), below, startgen)
            # spec: TopicTrie!SubscribeCas
            result = conclude(mem, trie, me, path[TWO * depth], m, new)
            if result == NO_MEMORY:
                return FULL
            if result != COMMITTED:
                break
            retire_pair(mem, trie, me, startgen, m, NIL)
            if not partly:
                return name


@kernel
def unsubscribe(mem: Handle, trie: Word, me: Word, digits: Array, path: Array, name: Word) -> Word:
    """Take the subscription called `name`, whose string is `digits`, away.

    The caller must be pinned. Return the S-node, NIL if there was none, FULL if there was no room.
    """
    while True:
        startgen = _start(mem, trie, path)
        outcome, depth, m, slot = _descend(mem, trie, me, digits, path, NIL, startgen)
        if outcome == _RESTART:
            continue
        if outcome == _HERE and (slot == NIL or is_child(slot) or peek(mem, slot + KEY) != name):
            return NIL
        if outcome == _NO_ROOM or not begin(mem, me, URGENT):
            return FULL
        where = path[TWO * depth + ONE]
        level = where & LEVEL
        new = without(mem, me, m, flag_of(digits[where >> SHIFT], level), place_of(depth, level), startgen)
        # spec: TopicTrie!UnsubscribeCas
        result = conclude(mem, trie, me, path[TWO * depth], m, new)
        if result == NO_MEMORY:
            return FULL
        if result != COMMITTED:
            continue
        retire_pair(mem, trie, me, startgen, m, slot)
        while depth > NIL and kind_of(mem, gcas_read(mem, trie, path[TWO * depth])) == T_NODE:
            clean(mem, trie, me, path, depth, digits, startgen)
            depth -= ONE
        return slot
