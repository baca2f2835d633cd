"""Calls for many keys: a column in, compiled loops over slices of it, a column out.

Ctrl-C gets its chance at the end of a slice. A full arena ends a slice early; then room is made, and the rest tried
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from latchfree.arena.patience import Patience
from latchfree.ctrie import columns
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES
from latchfree.ctrie.store import Store

#: Keys handled between two chances for Ctrl-C.
_SLICE: Final = 1 << 16


def _slices(length: int) -> Iterator[tuple[int, int]]:
    for first in range(0, length, _SLICE):
        yield first, min(first + _SLICE, length)


def _work_through(
    store: Store, first: int, last: int, entry: Callable[..., int], given: tuple[Any, ...], *found: Any
) -> None:
    """Handle the elements of a slice, making room where the arena is full.

    Parameters
    ----------
    store : Store
        The trie.
    first, last : int
        The slice.
    entry : callable
        Compiled: handles elements of columns from the first, as a participant; returns how many it did before the
        arena was full. A signal handler, which may fork, does not run between the loan and the call.
    given : tuple of columns
        Passed before the slice.
    *found : array
        Passed after the slice.
    """
    patience = Patience(store.arena, bulk=True)
    base, trie = store.base, store.trie
    while first < last:
        with store.lend() as me:
            done = entry(base, trie, me, *given, first, last, *found)
        first += done
        if first < last and not patience.make_room(progress=done > 0):
            raise store.out_of_room(first)


def get_many(store: Store, keys: Any) -> Any:
    """Look up many keys; see `Ctrie.get_many`."""
    column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    base, trie = store.base, store.trie
    found = np.empty(column.length, np.uint8)
    if store.values.word:
        out = np.empty(column.length, np.int64)
        get_words = TRIE.get_words_w if store.keys.word else TRIE.get_words_b
        for first, last in _slices(column.length):
            with store.lend() as me:
                get_words(base, trie, me, column.data, first, last, out, found)
        return columns.from_words(out, found, column.source)
    offsets = np.zeros(column.length + 1, np.int64)
    data = np.empty(16 * column.length + 64, np.uint8)
    get_blobs = TRIE.get_blobs_w if store.keys.word else TRIE.get_blobs_b
    for first, last in _slices(column.length):
        at = first
        while True:
            with store.lend() as me:
                at = get_blobs(base, trie, me, column.data, at, last, offsets, data, found)
            if at == last:
                break
            data = np.concatenate([data, np.empty(len(data) + MAX_VALUE_BYTES, np.uint8)])
    return columns.from_blobs(data[: offsets[-1]], offsets, found != 0, store.values, column.source)


def put_many(store: Store, keys: Any, values: Any) -> None:
    """Write many keys; see `Ctrie.put_many`."""
    key_column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    value_column = columns.to_column(values, store.values, "values", MAX_VALUE_BYTES)
    if key_column.length != value_column.length:
        raise ValueError(f"got {key_column.length} keys but {value_column.length} values")
    put_all = getattr(TRIE, f"put_all{store.kinds}")
    for first, last in _slices(key_column.length):
        _work_through(store, first, last, put_all, (key_column.data, value_column.data))


def remove_many(store: Store, keys: Any) -> Any:
    """Remove many keys; see `Ctrie.remove_many`."""
    column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    found = np.empty(column.length, np.uint8)
    remove_all = TRIE.remove_all_w if store.keys.word else TRIE.remove_all_b
    for first, last in _slices(column.length):
        _work_through(store, first, last, remove_all, (column.data,), found)
    return columns.from_flags(found, column.source)
