"""Lookup, in a live trie and in a frozen one.

Example: a snapshot has made the root of generation 5, and the key is below a child of generation 4. The lookup goes on
in that child, and copies nothing.

Invariant: the content of a child of an older generation cannot change any more, whatever is pending there fails. So the
answer found below it held when the main that leads to it was read. Only updates renew such children.
"""

import numpy as np

from latchfree.atomics import in_line, load, load_seq, out_of_line, peek
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read, read_root
from latchfree.ctrie.kernels.helping import clean
from latchfree.ctrie.kernels.mains import NOWHERE, find
from latchfree.ctrie.kernels.nodes import (
    C_NODE,
    ENTRIES,
    MAIN,
    NIL,
    PENDING,
    PREV,
    ROOT_WORD,
    STRIDE,
    T_NODE,
    TOMBED,
    UNTAG,
    gen_of,
    is_child,
    kind_of,
    slot_for,
)
from latchfree.ctrie.kernels.snode import full_hash, placed, same_key
from latchfree.jit import kernel
from latchfree.kinds import Handle, Key, Word

#: In place of an S-node: `lookup_undisturbed` met something that has to be helped first.
TO_HELP = np.uint64((1 << 64) - 1)


@kernel
def _match(mem: Handle, snode: Word, key: Key) -> Word:
    return snode if same_key(mem, snode, key) else NIL


@kernel
def _in_lnode(mem: Handle, m: Word, key: Key) -> Word:
    at = find(mem, m, key)
    return NIL if at == NOWHERE else peek(mem, m + ENTRIES + at)


@kernel
def lookup_frozen(mem: Handle, i: Word, h: Word, level: Word, key: Key) -> Word:
    """Return the S-node of `key` below I-node `i` of a tree that no longer changes, or NIL."""
    while True:
        m = gcas_read(mem, READ_ONLY, i)
        kind = kind_of(mem, m)
        if kind == T_NODE:
            return _match(mem, peek(mem, m + TOMBED), key)
        if kind != C_NODE:
            return _in_lnode(mem, m, key)
        slot = slot_for(mem, m, h, level)
        if slot == NIL:
            return NIL
        if not is_child(slot):
            return _match(mem, slot, key)
        i = slot & UNTAG
        level += STRIDE


@kernel
def lookup_undisturbed(mem: Handle, trie: Word, h: Word, key: Key) -> Word:
    """Return the S-node of `key` or NIL; TO_HELP where there is something to help with first.

    Small enough to be compiled into whatever calls it.
    """
    in_line()
    # spec: Ctrie!RdcssRead
    i = load_seq(mem, trie + ROOT_WORD)
    if i & PENDING != NIL:
        return TO_HELP
    level = NIL
    while True:
        # spec: Ctrie!GcasReadMain -- orders as in gcas_read.
        m = load_seq(mem, i + MAIN)
        # spec: Ctrie!GcasReadPrev -- as in gcas_read.
        if load(mem, m + PREV) != NIL or kind_of(mem, m) != C_NODE:
            return TO_HELP
        slot = slot_for(mem, m, h, level)
        if not is_child(slot):
            return slot if slot == NIL or same_key(mem, slot, key) else NIL
        i = slot & UNTAG
        level += STRIDE


@kernel
def lookup(mem: Handle, trie: Word, me: Word, key: Key) -> Word:
    """Return the S-node of `key`, or NIL. LP: the read of the main that holds the key, or lacks it."""
    in_line()
    h = placed(mem, trie, full_hash(key))
    node = lookup_undisturbed(mem, trie, h, key)
    return node if node != TO_HELP else lookup_helping(mem, trie, me, h, key)


@kernel
def lookup_helping(mem: Handle, trie: Word, me: Word, h: Word, key: Key) -> Word:
    """Return as `lookup`; decide pending updates and clean tombs on the way."""
    out_of_line()
    while True:
        i = read_root(mem, trie)
        startgen = gen_of(mem, i)
        parent = NIL
        level = NIL
        while True:
            m = gcas_read(mem, trie, i)
            kind = kind_of(mem, m)
            if kind == C_NODE:
                slot = slot_for(mem, m, h, level)
                if slot == NIL:
                    return NIL
                if not is_child(slot):
                    return _match(mem, slot, key)
                parent = i
                i = slot & UNTAG
                level += STRIDE
            elif kind == T_NODE:
                # Nobody cleans in a tree that does not change.
                if gen_of(mem, i) == startgen and clean(mem, trie, me, parent, level - STRIDE):
                    break
                return _match(mem, peek(mem, m + TOMBED), key)
            else:
                return _in_lnode(mem, m, key)
