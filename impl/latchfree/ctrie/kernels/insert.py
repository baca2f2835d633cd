"""Insert, also conditionally: put, put if absent, put if present, replace if equal.

LP of a change: the root read of the GCAS that commits it. LP of a refusal: the read of the main that shows it.

`insert_near` begins at an I-node that the caller found on the way to the key, and not at the root. Invariant: an I-node
of the root's generation leaves the trie only after a T-node was committed in it. So the insert reads the root first and
compares the generations, and at a T-node it begins again from the root.
"""

import numpy as np

from latchfree.arena.kernels.allocator import ORDINARY
from latchfree.atomics import in_line, peek
from latchfree.ctrie.kernels.gcas import COMMITTED, NO_MEMORY, conclude, gcas_read, read_root
from latchfree.ctrie.kernels.helping import clean, renew
from latchfree.ctrie.kernels.mains import NOWHERE, find, main_with, with_entry
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    ENTRIES,
    NIL,
    STRIDE,
    T_NODE,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.retirement import retire_pair
from latchfree.ctrie.kernels.snode import (
    full_hash,
    new_snode,
    placed,
    same_key,
    same_value,
)
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Key, Value, Word
from latchfree.words import flag_of

#: When to write, and when to remove (ALWAYS and IF_EQUAL).
ALWAYS = np.uint64(0)
IF_ABSENT = np.uint64(1)
IF_PRESENT = np.uint64(2)
IF_EQUAL = np.uint64(3)

#: Result in place of an S-node: there was no room, and nothing changed.
FULL = np.uint64((1 << 64) - 1)


@kernel
def _refused(mem: Handle, snode: Word, key: Key, mode: Word, expected: Word) -> Flag:
    """Return whether `mode` forbids to write over `snode`, which is NIL where the key is absent."""
    if mode == ALWAYS:
        return False
    if mode == IF_ABSENT:
        return snode != NIL
    if mode == IF_PRESENT or snode == NIL:
        return snode == NIL
    return not same_value(mem, snode, key, expected)


@kernel
def insert(mem: Handle, trie: Word, me: Word, key: Key, value: Value, mode: Word, expected: Word) -> Word:
    """Write `value` under `key` where `mode` allows.

    The caller must be pinned.

    Parameters
    ----------
    mem, trie, me : Word
        Base, root word and participant.
    key, value : Key, Value
        As `latchfree.ctrie.kernels.snode` takes them.
    mode : Word
        ALWAYS, IF_ABSENT, IF_PRESENT or IF_EQUAL.
    expected : Value
        The value to replace under IF_EQUAL; any value otherwise.

    Returns
    -------
    Word
        The S-node that held the key before; NIL if there was none, or under IF_EQUAL another value; FULL if there was
        no room, and nothing changed.
    """
    return insert_near(mem, trie, me, key, value, mode, expected, NIL, NIL)


@kernel
def insert_near(
    mem: Handle,
    trie: Word,
    me: Word,
    key: Key,
    value: Value,
    mode: Word,
    expected: Word,
    near: Word,
    near_level: Word,
) -> Word:
    """Do as `insert`; begin at I-node `near` of level `near_level`, found since the caller was pinned, unless NIL."""
    in_line()
    full = full_hash(key)
    h = placed(mem, trie, full)
    while True:
        i = read_root(mem, trie)
        startgen = gen_of(mem, i)
        level = NIL
        if near != NIL:
            if gen_of(mem, near) == startgen:
                i = near
                level = near_level
            near = NIL
        parent = i  # of the first I-node none is known; in its place one that has nothing to clean
        while True:
            m = gcas_read(mem, trie, i)
            kind = kind_of(mem, m)
            old = NIL
            if kind == C_NODE:
                slot = slot_for(mem, m, h, level)
                if is_child(slot):
                    child = slot & UNTAG
                    if gen_of(mem, child) == startgen:
                        parent = i
                        i = child
                        level += STRIDE
                        continue
                    outcome = renew(mem, trie, me, i, m, child, flag_of(h, level), startgen)
                    if outcome == NO_MEMORY:
                        return FULL
                    if outcome == COMMITTED:
                        continue
                    break
                if slot != NIL and same_key(mem, slot, key):
                    old = slot
                if _refused(mem, old, key, mode, expected):
                    return NIL if mode == IF_EQUAL else old
                if not begin(mem, me, ORDINARY):
                    return FULL
                new = main_with(mem, trie, me, m, slot, key, full, h, value, level, startgen)
            elif kind == T_NODE:
                if not clean(mem, trie, me, parent, level - STRIDE):
                    return FULL
                break
            else:
                at = find(mem, m, key)
                if at != NOWHERE:
                    old = peek(mem, m + ENTRIES + at)
                if _refused(mem, old, key, mode, expected):
                    return NIL if mode == IF_EQUAL else old
                if not begin(mem, me, ORDINARY):
                    return FULL
                snode = new_snode(mem, me, key, full, value, startgen)
                new = with_entry(mem, me, m, at, snode, startgen)
            outcome = conclude(mem, trie, me, i, m, new)
            if outcome == COMMITTED:
                retire_pair(mem, trie, me, startgen, m, old)
                return old
            if outcome == NO_MEMORY:
                return FULL
            break
