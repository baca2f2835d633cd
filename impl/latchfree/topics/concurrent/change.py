"""Subscribe, unsubscribe, and the cleaning of what an unsubscription leaves empty.

LP of a change: the root read of the GCAS that commits it. LP of a refusal: the read of the main that shows it.
"""

import numpy as np

from latchfree.arena.allocator import ORDINARY, URGENT, abandon, begin, failed, undo
from latchfree.arena.shape import BRANCH, DIGIT, PLAIN
from latchfree.atomics import peek
from latchfree.ctrie.burial import bury, bury_pair, close_grave, open_grave
from latchfree.ctrie.cnode import inserted, updated
from latchfree.ctrie.entries import KEY, new_snode
from latchfree.ctrie.gcas import COMMITTED, LOST, gcas, gcas_read, read_root
from latchfree.ctrie.insert import FULL
from latchfree.ctrie.lookup import NO_MEMORY
from latchfree.ctrie.nodes import (
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
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Key, Value, Word
from latchfree.topics.concurrent.levels import (
    MOST_BRANCHES,
    both,
    place_of,
    renew,
    resolved,
    shared_digits,
    without,
)
from latchfree.words import flag_of

_TWO = np.uint64(2)
_THREE = np.uint64(3)
_LEVEL = np.uint64(255)
_SHIFT = np.uint64(8)

# Outcomes of `_step`.
_HERE = np.uint64(0)  # the place of the string is in this C-node
_BELOW = np.uint64(1)  # it is below the child in the slot
_AGAIN = np.uint64(2)  # the children were renewed
_RESTART = np.uint64(3)
_NO_ROOM = np.uint64(4)


@kernel
def _step(mem: Handle, trie: Word, me: Word, i: Word, m: Word, slot: Word, digit: Word, startgen: Word) -> Word:
    """Whether a descent ends at C-node `m` of `i`, whose slot for `digit` is `slot`, or goes on below."""
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
def clean(mem: Handle, trie: Word, me: Word, path: Array, depth: Word, digits: Array, startgen: Word) -> Flag:
    """If the I-node at `depth` of a path is tombed, put what its tomb holds in its place in the one above.

    Gives up when the slot no longer points there (somebody did it) or a snapshot has changed the generation. False: no
    memory. A tomb left behind is correct, and the next change that meets it cleans it.
    """
    i = path[_TWO * depth]
    parent = path[_TWO * (depth - ONE)]
    where = path[_TWO * (depth - ONE) + ONE]
    level = where & _LEVEL
    digit = digits[where >> _SHIFT]
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
        if failed(mem, me):
            return False
        # spec: TopicTrie!CleanCas
        outcome = gcas(mem, trie, parent, m, new)
        if outcome == COMMITTED:
            open_grave(mem, trie, me, gen, _THREE)
            bury(mem, me, m)
            bury(mem, me, i)
            bury(mem, me, tomb)
            close_grave(mem, me)
            return True
        if outcome == LOST:
            undo(mem, me)
        else:
            abandon(mem, me)
        if gen_of(mem, read_root(mem, trie)) != startgen:
            return True


@kernel
def subscribe(
    mem: Handle, trie: Word, me: Word, rules: Word, digits: Array, path: Array, name: Word, text: Key, value: Value
) -> Word:
    """Add a subscription of the pattern `text`, whose string is `digits`; `name` is its number and the flag WILD.

    The caller must be pinned. `path` is scratch, two words an I-node. Returns FULL where there was no room: then
    nothing is subscribed.
    """
    mask = peek(mem, trie + HASH_MASK)
    while True:
        i = read_root(mem, trie)
        startgen = gen_of(mem, i)
        depth = NIL
        k = NIL
        level = NIL
        while True:
            path[_TWO * depth] = i
            path[_TWO * depth + ONE] = (k << _SHIFT) | level
            # spec: TopicTrie!ReadMain
            m = gcas_read(mem, trie, i)
            if kind_of(mem, m) == T_NODE:
                if not clean(mem, trie, me, path, depth, digits, startgen):
                    return FULL
                break
            digit = digits[k]
            slot = slot_for(mem, m, digit, level)
            step = _step(mem, trie, me, i, m, slot, digit, startgen)
            if step == _BELOW:
                i = slot & PLAIN
                depth += ONE
                level = level + STRIDE if slot & BRANCH == NIL else NIL
                k = k if slot & BRANCH == NIL else k + ONE
                continue
            if step == _AGAIN:
                continue
            if step == _RESTART:
                break
            shared, other = NIL, NIL
            if slot != NIL and step == _HERE:
                shared, other = shared_digits(mem, slot, rules, mask, digits, k)
            if step == _NO_ROOM or not begin(mem, me, ORDINARY):
                return FULL
            partly = shared == MOST_BRANCHES
            s = NIL if partly else new_snode(mem, me, text, name, value, startgen)
            if slot == NIL:
                new = inserted(mem, me, m, flag_of(digit, level), s, startgen)
            else:
                below = both(mem, me, slot, other, s, digits, k, shared, level, startgen)
                new = updated(mem, me, m, flag_of(digit, level), below, startgen)
            if failed(mem, me):
                return FULL
            # spec: TopicTrie!SubscribeCas
            outcome = gcas(mem, trie, i, m, new)
            if outcome == COMMITTED:
                bury_pair(mem, trie, me, startgen, m, NIL)
                if partly:
                    continue
                return name
            if outcome == LOST:
                undo(mem, me)
            else:
                abandon(mem, me)
            break


@kernel
def unsubscribe(mem: Handle, trie: Word, me: Word, digits: Array, path: Array, name: Word) -> Word:
    """Take the subscription called `name`, whose string is `digits`, away.

    The caller must be pinned. Returns its S-node, NIL if it was not there, FULL where there was no room.
    """
    while True:
        i = read_root(mem, trie)
        startgen = gen_of(mem, i)
        depth = NIL
        k = NIL
        level = NIL
        while True:
            path[_TWO * depth] = i
            path[_TWO * depth + ONE] = (k << _SHIFT) | level
            # spec: TopicTrie!ReadMain
            m = gcas_read(mem, trie, i)
            if kind_of(mem, m) == T_NODE:
                if not clean(mem, trie, me, path, depth, digits, startgen):
                    return FULL
                break
            digit = digits[k]
            slot = slot_for(mem, m, digit, level)
            step = _step(mem, trie, me, i, m, slot, digit, startgen)
            if step == _BELOW:
                i = slot & PLAIN
                depth += ONE
                level = level + STRIDE if slot & BRANCH == NIL else NIL
                k = k if slot & BRANCH == NIL else k + ONE
                continue
            if step == _AGAIN:
                continue
            if step == _RESTART:
                break
            if step == _HERE and (slot == NIL or is_child(slot) or peek(mem, slot + KEY) != name):
                return NIL
            if step == _NO_ROOM or not begin(mem, me, URGENT):
                return FULL
            new = without(mem, me, m, flag_of(digit, level), place_of(depth, level), startgen)
            if failed(mem, me):
                return FULL
            # spec: TopicTrie!UnsubscribeCas
            outcome = gcas(mem, trie, i, m, new)
            if outcome == COMMITTED:
                bury_pair(mem, trie, me, startgen, m, slot)
                while depth > NIL and kind_of(mem, gcas_read(mem, trie, path[_TWO * depth])) == T_NODE:
                    clean(mem, trie, me, path, depth, digits, startgen)
                    depth -= ONE
                return slot
            if outcome == LOST:
                undo(mem, me)
            else:
                abandon(mem, me)
            break
