"""Is there a node at an offset? For callers who trust no word of an arena.

Example: a link says that a C-node is at word 5000. It is one if word 5000 lies in the part of the arena that was given
out, its header says "C-node", and the size in the header is 3 words plus one for each bit set in the bitmap.
"""

from __future__ import annotations

import numpy as np

from latchfree.arena.kernels.blocks import COUNT as BLOCK_COUNT
from latchfree.arena.kernels.blocks import ENTRIES as BLOCK_ENTRIES
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.kernels.node import BLOCK, kind_of, size_of
from latchfree.arena.layout import FIRST_NODE
from latchfree.atomics import peek, popcount
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES
from latchfree.ctrie.kernels import registry
from latchfree.ctrie.kernels.gcas import DESCRIPTOR_WORDS
from latchfree.ctrie.kernels.shape import (
    B_WORDS,
    BITMAP,
    C_NODE,
    C_WORDS,
    COUNT,
    I_NODE,
    I_WORDS,
    L_NODE,
    L_WORDS,
    RDCSS,
    ROOT,
    ROOT_WORDS,
    S_NODE,
    T_NODE,
    T_WORDS,
    TABLE,
)
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY_LENGTH, VALUE, WORD_KEY_WORDS
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_3 = np.uint64(3)
_7 = np.uint64(7)
_FIRST = np.uint64(FIRST_NODE)
_MOST_KEY = np.uint64(MAX_KEY_BYTES)
_MOST_VALUE = np.uint64(MAX_VALUE_BYTES)

#: Kinds of entries: unknown, or 4 plus 1 if keys are integers plus 2 if values are.
ANY_ENTRIES = 0
_WORD_KEYS = np.uint64(1)
_WORD_VALUES = np.uint64(2)


def entries_kind(word_keys: bool, word_values: bool) -> int:
    """Return how the S-nodes of a trie are laid out: whether its keys and its values are integers."""
    return 4 + word_keys + 2 * word_values


@kernel
def _snode_fits(mem: Handle, node: Word, size: Word, kind: Word) -> Flag:
    """Return whether an S-node has the size that its key and value need."""
    if size < _3 or kind == _0:
        return size >= _3
    value_bytes = _0 if kind & _WORD_VALUES != _0 else peek(mem, node + VALUE)
    if kind & _WORD_KEYS != _0:
        return value_bytes <= _MOST_VALUE and size == WORD_KEY_WORDS + ((value_bytes + _7) >> _3)
    if size < BLOB_KEY_WORDS:
        return False
    key_bytes = peek(mem, node + KEY_LENGTH)
    words = BLOB_KEY_WORDS + ((min(key_bytes, _MOST_KEY) + _7) >> _3) + ((min(value_bytes, _MOST_VALUE) + _7) >> _3)
    return key_bytes <= _MOST_KEY and value_bytes <= _MOST_VALUE and size == words


@kernel
def _fits(mem: Handle, node: Word, kind: Word, size: Word, entries: Word) -> Flag:
    """Return whether a node has a size that its kind and content allow; the words up to `size` may be read."""
    if kind == I_NODE:
        return size in (I_WORDS, B_WORDS)
    if kind == C_NODE:
        return size >= C_WORDS and size == C_WORDS + np.uint64(popcount(peek(mem, node + BITMAP)))
    if kind == T_NODE:
        return size == T_WORDS
    if kind == L_NODE:
        return size > L_WORDS and peek(mem, node + COUNT) == size - L_WORDS
    if kind == S_NODE:
        return _snode_fits(mem, node, size, entries)
    if kind == ROOT:
        return size == ROOT_WORDS
    if kind == RDCSS:
        return size == DESCRIPTOR_WORDS
    if kind == TABLE:
        return size == registry.TABLE_WORDS
    return kind == BLOCK and size >= BLOCK_ENTRIES and peek(mem, node + BLOCK_COUNT) <= size - BLOCK_ENTRIES


@kernel
def node_words(mem: Handle, node: Word, top: Word, kind: Word, entries: Word) -> Word:
    """Return the words that a node takes, 0 if there is no node of that kind, whole and below `top`, at the offset."""
    if node < _FIRST or node >= top or kind_of(mem, node) != kind:
        return _0
    size = size_of(mem, node)
    if size < I_WORDS or size > top - node or round_up(size) > top - node:
        return _0
    return round_up(size) if _fits(mem, node, kind, size, entries) else _0
