"""Bulk calls: one compiled loop over a batch of keys, without the interpreter lock."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from latchfree.atomics import peek
from latchfree.ctrie.entries import VALUE, stored_key_words
from latchfree.ctrie.insert import ALWAYS, FULL, insert
from latchfree.ctrie.lookup import lookup
from latchfree.ctrie.nodes import NIL
from latchfree.ctrie.remove import ALWAYS as REMOVE_ALWAYS
from latchfree.ctrie.remove import remove
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word


def element(column: Array, k: Word) -> Word:
    """Element `k` of an int64 array, or of a blob column (address of the bytes, int64 offsets)."""
    raise NotImplementedError  # compiled: see the overload below


@overload(element)
def _element(column: Any, k: Any) -> Any:
    if isinstance(column, types.BaseTuple):

        def blob(column: Any, k: Any) -> Any:
            start = np.uint64(column[1][k])
            return (column[0] + start, np.uint64(column[1][k + 1]) - start)

        return blob

    def word(column: Any, k: Any) -> Any:
        return column[k]

    return word


@kernel
def get_words(
    mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, out: Array, found: Array
) -> None:
    """Values of keys `first` to `last`; where `found` is 0 the key is absent and `out` unchanged."""
    for k in range(first, last):
        node = lookup(mem, trie, me, element(keys, k))
        if node != NIL:
            out[k] = np.int64(peek(mem, node + VALUE))
            found[k] = 1


@kernel
def get_nodes(
    mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, nodes: Array, lengths: Array
) -> None:
    """S-nodes of keys `first` to `last` (0: absent), and the lengths of their values."""
    for k in range(first, last):
        node = lookup(mem, trie, me, element(keys, k))
        nodes[k] = node
        lengths[k] = np.int64(peek(mem, node + VALUE)) if node != NIL else 0


@kernel
def copy_values(mem: Handle, nodes: Array, keys: Array, offsets: Array, out: Array) -> None:
    """Copy the value bytes of S-nodes into `out`, from `offsets`; `keys` only says of which kind keys are."""
    for k in range(len(nodes)):
        if nodes[k] != NIL:
            at = nodes[k] + stored_key_words(mem, nodes[k], element(keys, 0))
            for b in range(offsets[k + 1] - offsets[k]):
                byte = peek(mem, at + np.uint64(b >> 3)) >> np.uint64((b & 7) << 3)
                out[offsets[k] + b] = byte & np.uint64(255)


@kernel
def put_all(mem: Handle, trie: Word, me: Word, keys: Array, values: Array, first: Word, last: Word) -> Word:
    """Put keys `first` to `last`; returns how many took effect before the arena was full."""
    for k in range(first, last):
        value = element(values, k)
        if insert(mem, trie, me, element(keys, k), value, ALWAYS, value) == FULL:
            return k - first
    return last - first


@kernel
def remove_all(mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, found: Array) -> Word:
    """Remove keys `first` to `last`, marking those that were there; returns as `put_all`."""
    for k in range(first, last):
        node = remove(mem, trie, me, element(keys, k), REMOVE_ALWAYS, 0)
        if node == FULL:
            return k - first
        found[k] = 1 if node != NIL else 0
    return last - first
