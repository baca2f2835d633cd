"""Remove, also conditional on the value, and the cleaning of the path above.

LP of a removal: the root read of the GCAS that commits it. LP of a refusal: the read of the main that shows it.

`remove_near` begins at an I-node that the caller found on the way to the key, as `insert_near` does, and looks for the
path above that only if it has made a tomb.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT
from latchfree.atomics import in_line, peek, poke
from latchfree.ctrie.kernels.gcas import COMMITTED, NO_MEMORY, conclude, gcas_read, read_root
from latchfree.ctrie.kernels.helping import clean, clean_parent, renew
from latchfree.ctrie.kernels.insert import FULL, IF_EQUAL
from latchfree.ctrie.kernels.mains import NOWHERE, find, removed_contracted, without_entry
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    ENTRIES,
    NIL,
    ONE,
    STRIDE,
    T_NODE,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.retirement import retire_pair
from latchfree.ctrie.kernels.shape import P_PATH
from latchfree.ctrie.kernels.snode import full_hash, placed, same_key, same_value
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Key, Word
from latchfree.words import flag_of


@kernel
def clean_path(mem: Handle, trie: Word, me: Word, depth: Word, h: Word, startgen: Word) -> None:
    """Pull every fresh tomb into its parent, from the I-node at `depth` of the recorded path upwards."""
    while depth > NIL:
        i = peek(mem, me + P_PATH + depth)
        if kind_of(mem, gcas_read(mem, trie, i)) != T_NODE:
            return
        depth -= ONE
        parent = peek(mem, me + P_PATH + depth)
        clean_parent(mem, trie, me, parent, i, h, depth * STRIDE, startgen)


@kernel
def _trace(mem: Handle, trie: Word, me: Word, depth: Word, h: Word) -> Flag:
    """Record the path of a hash down to an I-node at `depth`, now the last of the path. False: the path has changed."""
    i = read_root(mem, trie)
    for k in range(depth):
        poke(mem, me + P_PATH + np.uint64(k), i)
        m = gcas_read(mem, trie, i)
        slot = slot_for(mem, m, h, np.uint64(k) * STRIDE) if kind_of(mem, m) == C_NODE else NIL
        if not is_child(slot):
            break
        i = slot & UNTAG
    return i == peek(mem, me + P_PATH + depth)


@kernel
def remove(mem: Handle, trie: Word, me: Word, key: Key, mode: Word, expected: Word) -> Word:
    """Remove `key`, under IF_EQUAL only from value `expected`.

    The caller must be pinned.

    Parameters
    ----------
    mem, trie, me : Word
        Base, root word and participant.
    key : Key
        As `latchfree.ctrie.kernels.snode` takes it.
    mode : Word
        ALWAYS or IF_EQUAL.
    expected : Value
        The value to remove under IF_EQUAL; any value otherwise.

    Returns
    -------
    Word
        The S-node that held the key; NIL if nothing was removed; FULL if there was no room, and nothing changed.
    """
    return remove_near(mem, trie, me, key, mode, expected, NIL, NIL)


@kernel
def remove_near(
    mem: Handle, trie: Word, me: Word, key: Key, mode: Word, expected: Word, near: Word, near_level: Word
) -> Word:
    """Do as `remove`; begin at I-node `near` of level `near_level`, found since the caller was pinned, unless NIL."""
    in_line()
    h = placed(mem, trie, full_hash(key))
    while True:
        i = read_root(mem, trie)
        startgen = gen_of(mem, i)
        depth = NIL
        is_near = near != NIL and gen_of(mem, near) == startgen
        if is_near:
            i = near
            depth = near_level // STRIDE
        near = NIL
        parent = i  # as in insert_near
        poke(mem, me + P_PATH + depth, i)
        while True:
            m = gcas_read(mem, trie, i)
            kind = kind_of(mem, m)
            level = depth * STRIDE
            if kind == C_NODE:
                slot = slot_for(mem, m, h, level)
                if is_child(slot):
                    child = slot & UNTAG
                    if gen_of(mem, child) == startgen:
                        parent = i
                        i = child
                        depth += ONE
                        poke(mem, me + P_PATH + depth, i)
                        continue
                    outcome = renew(mem, trie, me, i, m, child, flag_of(h, level), startgen)
                    if outcome == NO_MEMORY:
                        return FULL
                    if outcome == COMMITTED:
                        continue
                    break
                if slot == NIL or not same_key(mem, slot, key):
                    return NIL
                old = slot
                if mode == IF_EQUAL and not same_value(mem, old, key, expected):
                    return NIL
                if not begin(mem, me, URGENT):
                    return FULL
                new = removed_contracted(mem, me, m, flag_of(h, level), level, startgen)
            elif kind == T_NODE:
                if not clean(mem, trie, me, parent, level - STRIDE):
                    return FULL
                break
            else:
                at = find(mem, m, key)
                if at == NOWHERE:
                    return NIL
                old = peek(mem, m + ENTRIES + at)
                if mode == IF_EQUAL and not same_value(mem, old, key, expected):
                    return NIL
                if not begin(mem, me, URGENT):
                    return FULL
                new = without_entry(mem, me, m, at, startgen)
            outcome = conclude(mem, trie, me, i, m, new)
            if outcome == COMMITTED:
                tombed = kind_of(mem, new) == T_NODE
                retire_pair(mem, trie, me, startgen, m, old)
                if tombed and (not is_near or _trace(mem, trie, me, depth, h)):
                    clean_path(mem, trie, me, depth, h, startgen)
                return old
            if outcome == NO_MEMORY:
                return FULL
            break
