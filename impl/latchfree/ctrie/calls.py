"""Single calls from Python: compiled entry points that keep the interpreter lock.

Each takes the address of a *context*, three words that say where the call works: base of the arena, offset of
the trie, offset of the participant. One argument instead of three makes a call about 30 ns cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from numba import types

from latchfree.atomics import peek
from latchfree.ctrie import insert as insert_module
from latchfree.ctrie import remove as remove_module
from latchfree.ctrie import snapshot
from latchfree.ctrie.builtins import BASE, ME, ROOT, TRIE
from latchfree.ctrie.entries import full_hash, placed
from latchfree.ctrie.gcas import gcas_read, read_root
from latchfree.ctrie.lookup import lookup, lookup_frozen
from latchfree.ctrie.nodes import BITMAP, NIL
from latchfree.jit import entry, entry_point
from latchfree.kinds import Flag, Key, Value, Word


@entry
def _find(context: Any, key: Key) -> Word:
    return lookup(peek(context, BASE), peek(context, TRIE), peek(context, ME), key)


@entry
def _find_frozen(context: Any, key: Key) -> Word:
    mem = peek(context, BASE)
    h = placed(mem, peek(context, TRIE), full_hash(key))
    return lookup_frozen(mem, peek(context, ROOT), h, NIL, key)


@entry
def _insert(context: Any, key: Key, value: Value, mode: Word, expected: Word) -> Word:
    mem = peek(context, BASE)
    return insert_module.insert(mem, peek(context, TRIE), peek(context, ME), key, value, mode, expected)


@entry
def _remove(context: Any, key: Key, mode: Word, expected: Word) -> Word:
    mem = peek(context, BASE)
    return remove_module.remove(mem, peek(context, TRIE), peek(context, ME), key, mode, expected)


@entry
def _freeze(context: Any) -> Word:
    return snapshot.freeze(peek(context, BASE), peek(context, TRIE), peek(context, ME))


@entry
def _is_empty(context: Word) -> Flag:
    # LP: the read of the root's main; below the root no C-node is ever empty.
    mem = peek(context, BASE)
    trie = peek(context, TRIE)
    return peek(mem, gcas_read(mem, trie, read_root(mem, trie)) + BITMAP) == NIL


@entry
def _clear(context: Any) -> Word:
    return snapshot.clear(peek(context, BASE), peek(context, TRIE), peek(context, ME))


@entry
def _create(base: Word, me: Word, hash_mask: Word) -> Word:
    return snapshot.new_trie(base, me, hash_mask)


@entry
def _fork(context: Word, hash_mask: Word) -> Word:
    mem = peek(context, BASE)
    return snapshot.fork_frozen(mem, peek(context, ME), peek(context, ROOT), hash_mask)


@cache
def create() -> Callable[..., Any]:
    """The entry point that makes an empty trie from base, participant and hash mask."""
    return entry_point(_create, types.uint64, types.uint64, types.uint64)


@dataclass(frozen=True, slots=True)
class Calls:
    """Entry points for one kind of key and value; each is documented by the kernel it calls."""

    find: Callable[..., Any]
    find_frozen: Callable[..., Any]
    insert: Callable[..., Any]
    remove: Callable[..., Any]
    freeze: Callable[..., Any]
    clear: Callable[..., Any]
    is_empty: Callable[..., Any]
    fork: Callable[..., Any]


@cache
def calls(word_keys: bool, word_values: bool) -> Calls:
    """Compile (or load) the entry points. A blob is passed as a tuple (address, length)."""
    blob: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]
    u64 = types.uint64
    key = types.int64 if word_keys else blob
    value = types.int64 if word_values else blob
    return Calls(
        find=entry_point(_find, u64, key),
        find_frozen=entry_point(_find_frozen, u64, key),
        insert=entry_point(_insert, u64, key, value, u64, value),
        remove=entry_point(_remove, u64, key, u64, value),
        freeze=entry_point(_freeze, u64),
        clear=entry_point(_clear, u64),
        is_empty=entry_point(_is_empty, u64),
        fork=entry_point(_fork, u64, u64),
    )
