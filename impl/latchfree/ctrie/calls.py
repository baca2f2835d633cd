"""Single calls from Python: compiled entry points that keep the interpreter lock.

Each takes the address of a *context*, three words that say where the call works: base of the arena, offset of
the trie, offset of the participant. One argument instead of three makes a call about 30 ns cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import types

from latchfree.atomics import peek
from latchfree.ctrie import insert as insert_module
from latchfree.ctrie import remove as remove_module
from latchfree.ctrie import snapshot
from latchfree.ctrie.entries import VALUE, full_hash, placed
from latchfree.ctrie.insert import ALWAYS, FULL
from latchfree.ctrie.lookup import lookup, lookup_frozen
from latchfree.ctrie.nodes import NIL
from latchfree.jit import entry, entry_point
from latchfree.kinds import Flag, Key, Value, Word

_BASE = np.uint64(0)
_TRIE = np.uint64(1)
_ME = np.uint64(2)
_ROOT = np.uint64(3)


@entry
def _get(context: Any, key: Key) -> Word:
    node = lookup(peek(context, _BASE), peek(context, _TRIE), peek(context, _ME), key)
    if node == NIL:
        return None
    return np.int64(peek(peek(context, _BASE), node + VALUE))


@entry
def _find(context: Any, key: Key) -> Word:
    return lookup(peek(context, _BASE), peek(context, _TRIE), peek(context, _ME), key)


@entry
def _find_frozen(context: Any, key: Key) -> Word:
    mem = peek(context, _BASE)
    h = placed(mem, peek(context, _TRIE), full_hash(key))
    return lookup_frozen(mem, peek(context, _ROOT), h, NIL, key)


@entry
def _put(context: Any, key: Key, value: Value) -> Flag:
    mem = peek(context, _BASE)
    old = insert_module.insert(mem, peek(context, _TRIE), peek(context, _ME), key, value, ALWAYS, value)
    return old != FULL


@entry
def _insert(context: Any, key: Key, value: Value, mode: Word, expected: Word) -> Word:
    mem = peek(context, _BASE)
    return insert_module.insert(mem, peek(context, _TRIE), peek(context, _ME), key, value, mode, expected)


@entry
def _remove(context: Any, key: Key, mode: Word, expected: Word) -> Word:
    mem = peek(context, _BASE)
    return remove_module.remove(mem, peek(context, _TRIE), peek(context, _ME), key, mode, expected)


@entry
def _freeze(context: Any) -> Word:
    return snapshot.freeze(peek(context, _BASE), peek(context, _TRIE), peek(context, _ME))


@entry
def _clear(context: Any) -> Word:
    return snapshot.clear(peek(context, _BASE), peek(context, _TRIE), peek(context, _ME))


@dataclass(frozen=True, slots=True)
class Calls:
    """Entry points for one kind of key and value; each is documented by the kernel it calls."""

    get: Callable[..., Any]  # value of a word, or None
    find: Callable[..., Any]
    find_frozen: Callable[..., Any]
    put: Callable[..., Any]  # False: full
    insert: Callable[..., Any]
    remove: Callable[..., Any]
    freeze: Callable[..., Any]
    clear: Callable[..., Any]


@cache
def calls(word_keys: bool, word_values: bool) -> Calls:
    """Compile (or load) the entry points. A blob is passed as a tuple (address, length)."""
    blob: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]
    u64 = types.uint64
    key = types.int64 if word_keys else blob
    value = types.int64 if word_values else blob
    return Calls(
        get=entry_point(_get, u64, key),
        find=entry_point(_find, u64, key),
        find_frozen=entry_point(_find_frozen, u64, key),
        put=entry_point(_put, u64, key, value),
        insert=entry_point(_insert, u64, key, value, u64, value),
        remove=entry_point(_remove, u64, key, u64, value),
        freeze=entry_point(_freeze, u64),
        clear=entry_point(_clear, u64),
    )
