"""Keys and values inside S-nodes, chosen at compile time by the types of key and value.

Example: the S-node of 5 -> 7 has three words: the header, 5 and 7. The S-node of "tea" -> 4 has five: the header, the
hash of "tea", 4, the length 3, and the bytes of "tea" padded with zeros.

A *word* key or value is an integer. A *blob* is a pair (address, length) of bytes outside the arena, copied in. A
*held* value is a pair of objects in a tuple of its own, ``((key, value),)``; the key of its S-node is the hash of the
key, a word. See `latchfree.ctrie.kernels.references`.

==========  ==========================================================
word        content
==========  ==========================================================
1           the key, or the hash of a blob key
2           the value, or the length of a blob value; held: the address of the key
3           blob key only: its length; held: the address of the value
next        the bytes of the key, then those of the value, each padded with zeros to whole words
==========  ==========================================================
"""

from typing import Any

import numpy as np

from latchfree.atomics import in_line, peek, poke, read_word
from latchfree.ctrie.kernels.nodes import HASH_MASK, PAIR, S_NODE, new_node
from latchfree.jit import kernel, overload
from latchfree.kinds import Flag, Handle, Key, Value, Word
from latchfree.words import hash_bytes, last_word, mix

KEY = np.uint64(1)
VALUE = np.uint64(2)
KEY_LENGTH = np.uint64(3)
HELD_KEY = np.uint64(2)
HELD_VALUE = np.uint64(3)
WORD_KEY_WORDS = np.uint64(3)
BLOB_KEY_WORDS = np.uint64(4)

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_8 = np.uint64(8)


def is_blob(kind: Any) -> bool:
    """Return whether a numba type is that of a blob: a tuple has a count of its elements."""
    return getattr(kind, "count", 0) == 2


def is_held(kind: Any) -> bool:
    """Return whether a numba type is that of a held pair of objects."""
    return getattr(kind, "count", 0) == 1


@kernel
def words_for(length: Word) -> Word:
    """Return how many words hold `length` bytes."""
    return (length + _7) >> _3


@kernel
def _copy_in(mem: Handle, at: Word, address: Word, length: Word) -> None:
    here = address
    end = address + (length & ~_7)
    while here < end:
        poke(mem, at, read_word(here))
        at += _1
        here += _8
    if length & _7:
        poke(mem, at, last_word(address, length))


@kernel
def _same_bytes(mem: Handle, at: Word, address: Word, length: Word) -> Flag:
    in_line()
    if length < _8:
        return length == _0 or peek(mem, at) == last_word(address, length)
    here, last = address, address + length - _8
    while here < last:
        if peek(mem, at) != read_word(here):
            return False
        at += _1
        here += _8
    # The last word is padded: its bytes are the upper ones of the last eight bytes.
    return peek(mem, at) == read_word(last) >> ((here - last) << _3)


def full_hash(key: Key) -> Word:
    """Return the hash of a key, all 64 bits."""
    raise NotImplementedError  # compiled: see the overload below


@overload(full_hash)
def _full_hash(key: Any) -> Any:
    if is_blob(key):

        def blob(key: Any) -> Any:
            in_line()
            return hash_bytes(key[0], key[1])

        return blob

    def word(key: Any) -> Any:
        return mix(np.uint64(key))

    return word


def stored_hash(mem: Handle, snode: Word, key: Key) -> Word:
    """Return the full hash of the key in an S-node; `key` only says of which kind keys are."""
    raise NotImplementedError  # compiled: see the overload below


@overload(stored_hash)
def _stored_hash(mem: Any, snode: Any, key: Any) -> Any:
    if is_blob(key):

        def blob(mem: Any, snode: Any, key: Any) -> Any:
            return peek(mem, snode + KEY)

        return blob

    def word(mem: Any, snode: Any, key: Any) -> Any:
        return mix(peek(mem, snode + KEY))

    return word


def same_key(mem: Handle, snode: Word, key: Key) -> Flag:
    """Return whether an S-node holds `key`."""
    raise NotImplementedError  # compiled: see the overload below


@overload(same_key)
def _same_key(mem: Any, snode: Any, key: Any) -> Any:
    if is_blob(key):

        def blob(mem: Any, snode: Any, key: Any) -> Any:
            in_line()
            if peek(mem, snode + KEY_LENGTH) != key[1]:
                return False
            return _same_bytes(mem, snode + BLOB_KEY_WORDS, key[0], key[1])

        return blob

    def word(mem: Any, snode: Any, key: Any) -> Any:
        return peek(mem, snode + KEY) == np.uint64(key)

    return word


def key_words(key: Key) -> Word:
    """Return how many words an S-node needs before the bytes of its value."""
    raise NotImplementedError  # compiled: see the overload below


@overload(key_words)
def _key_words(key: Any) -> Any:
    if is_blob(key):

        def blob(key: Any) -> Any:
            return BLOB_KEY_WORDS + words_for(key[1])

        return blob

    def word(key: Any) -> Any:
        return WORD_KEY_WORDS

    return word


def value_words(value: Value) -> Word:
    """Return how many words the bytes of a value need."""
    raise NotImplementedError  # compiled: see the overload below


@overload(value_words)
def _value_words(value: Any) -> Any:
    if is_blob(value):

        def blob(value: Any) -> Any:
            return words_for(value[1])

        return blob

    if is_held(value):

        def held(value: Any) -> Any:
            return _1

        return held

    def word(value: Any) -> Any:
        return _0

    return word


def stored_key_words(mem: Handle, snode: Word, key: Key) -> Word:
    """Return `key_words` of the key in an S-node; `key` only says of which kind keys are."""
    raise NotImplementedError  # compiled: see the overload below


@overload(stored_key_words)
def _stored_key_words(mem: Any, snode: Any, key: Any) -> Any:
    if is_blob(key):

        def blob(mem: Any, snode: Any, key: Any) -> Any:
            return BLOB_KEY_WORDS + words_for(peek(mem, snode + KEY_LENGTH))

        return blob

    def word(mem: Any, snode: Any, key: Any) -> Any:
        return WORD_KEY_WORDS

    return word


def same_value(mem: Handle, snode: Word, key: Key, value: Value) -> Flag:
    """Return whether an S-node that holds `key` has `value`."""
    raise NotImplementedError  # compiled: see the overload below


@overload(same_value)
def _same_value(mem: Any, snode: Any, key: Any, value: Any) -> Any:
    if is_blob(value):

        def blob(mem: Any, snode: Any, key: Any, value: Any) -> Any:
            if peek(mem, snode + VALUE) != value[1]:
                return False
            return _same_bytes(mem, snode + key_words(key), value[0], value[1])

        return blob

    if is_held(value):

        def held(mem: Any, snode: Any, key: Any, value: Any) -> Any:
            there = peek(mem, snode + HELD_KEY) == value[0][0]
            return there and peek(mem, snode + HELD_VALUE) == value[0][1]

        return held

    def word(mem: Any, snode: Any, key: Any, value: Any) -> Any:
        return peek(mem, snode + VALUE) == np.uint64(value)

    return word


def _write_key(mem: Handle, snode: Word, key: Key, h: Word) -> None:
    """Fill the key words of a new S-node."""
    raise NotImplementedError  # compiled: see the overload below


@overload(_write_key)
def _write_key_impl(mem: Any, snode: Any, key: Any, h: Any) -> Any:
    if is_blob(key):

        def blob(mem: Any, snode: Any, key: Any, h: Any) -> Any:
            poke(mem, snode + KEY, h)
            poke(mem, snode + KEY_LENGTH, key[1])
            _copy_in(mem, snode + BLOB_KEY_WORDS, key[0], key[1])

        return blob

    def word(mem: Any, snode: Any, key: Any, h: Any) -> Any:
        return poke(mem, snode + KEY, np.uint64(key))

    return word


def _write_value(mem: Handle, snode: Word, key: Key, value: Value) -> None:
    """Fill the value words of a new S-node."""
    raise NotImplementedError  # compiled: see the overload below


@overload(_write_value)
def _write_value_impl(mem: Any, snode: Any, key: Any, value: Any) -> Any:
    if is_blob(value):

        def blob(mem: Any, snode: Any, key: Any, value: Any) -> Any:
            poke(mem, snode + VALUE, value[1])
            _copy_in(mem, snode + key_words(key), value[0], value[1])

        return blob

    if is_held(value):

        def held(mem: Any, snode: Any, key: Any, value: Any) -> Any:
            poke(mem, snode + HELD_KEY, value[0][0])
            poke(mem, snode + HELD_VALUE, value[0][1])

        return held

    def word(mem: Any, snode: Any, key: Any, value: Any) -> Any:
        return poke(mem, snode + VALUE, np.uint64(value))

    return word


def snode_kind(value: Value) -> Word:
    """Return the kind of the S-node of a value."""
    raise NotImplementedError  # compiled: see the overload below


@overload(snode_kind)
def _snode_kind(value: Any) -> Any:
    if is_held(value):

        def held(value: Any) -> Any:
            return PAIR

        return held

    def other(value: Any) -> Any:
        return S_NODE

    return other


@kernel
def snode_words(key: Key, value: Value) -> Word:
    """Return the size of the S-node for a key and a value, in words."""
    return key_words(key) + value_words(value)


@kernel
def new_snode(mem: Handle, me: Word, key: Key, h: Word, value: Value, gen: Word) -> Word:
    """Return a new S-node; NIL if there is no memory for so large a one. `h` is the full hash of the key."""
    in_line()
    s = new_node(mem, me, snode_kind(value), snode_words(key, value), gen)
    if s == _0:
        return _0
    _write_key(mem, s, key, h)
    _write_value(mem, s, key, value)
    return s


@kernel
def placed(mem: Handle, trie: Word, h: Word) -> Word:
    """Return the hash that places a key: the full hash, or fewer of its bits where a trie wants collisions."""
    return h & peek(mem, trie + HASH_MASK)
