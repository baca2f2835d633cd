"""Bulk calls from Python: columns in, compiled loops over slices of them, columns out.

A slice ends where Ctrl-C gets its chance, and where the arena is full and garbage has to be collected first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from latchfree.ctrie import columns
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES
from latchfree.ctrie.kernels import loops
from latchfree.ctrie.store import Store

#: Times a call collects garbage without getting on before it gives up, and before it merges what is free.
_PATIENCE = 5
_GRACE = 2

#: Keys handled between two chances for Ctrl-C.
_SLICE = 1 << 16


def _slices(length: int) -> Iterator[tuple[int, int]]:
    for first in range(0, length, _SLICE):
        yield first, min(first + _SLICE, length)


def where(store: Store) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Base, trie and participant, the first arguments of the kernels in `latchfree.ctrie.kernels.loops`."""
    return store.base, np.uint64(store.trie), np.uint64(store.arena.participant())


def _insist(store: Store, first: int, last: int, work: Callable[[int, int], int]) -> None:
    """Work through a slice, collecting garbage where the arena is full, until nothing helps."""
    vain = 0
    while first < last:
        done = int(work(first, last))
        first += done
        vain = 0 if done else vain + 1
        if vain > _PATIENCE:
            raise store.out_of_room(first)
        if first < last:
            store.arena.collect()
            if vain > _GRACE:
                store.arena.merge(bulk=True)


def get_many(store: Store, keys: Any) -> Any:
    """See `Ctrie.get_many`."""
    column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    place = where(store)
    found = np.zeros(column.length, np.uint8)
    if store.values.word:
        out = np.zeros(column.length, np.int64)
        for first, last in _slices(column.length):
            loops.get_words(*place, column.data, first, last, out, found)
        return columns.from_words(out, found, column.source)
    offsets = np.zeros(column.length + 1, np.int64)
    data = np.empty(16 * column.length + 64, np.uint8)
    for first, last in _slices(column.length):
        at = first
        while True:
            at = int(loops.get_blobs(*place, column.data, at, last, offsets, data, found))
            if at == last:
                break
            data = np.concatenate([data, np.empty(len(data) + MAX_VALUE_BYTES, np.uint8)])
    return columns.from_blobs(data[: offsets[-1]], offsets, found != 0, store.values, column.source)


def put_many(store: Store, keys: Any, values: Any) -> None:
    """See `Ctrie.put_many`."""
    key_column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    value_column = columns.to_column(values, store.values, "values", MAX_VALUE_BYTES)
    if key_column.length != value_column.length:
        raise ValueError(f"got {key_column.length} keys but {value_column.length} values")
    place = where(store)
    for first, last in _slices(key_column.length):
        _insist(store, first, last, lambda at, end: loops.put_all(*place, key_column.data, value_column.data, at, end))


def remove_many(store: Store, keys: Any) -> Any:
    """See `Ctrie.remove_many`."""
    column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
    found = np.zeros(column.length, np.uint8)
    place = where(store)
    for first, last in _slices(column.length):
        _insist(store, first, last, lambda at, end: loops.remove_all(*place, column.data, at, end, found))
    return columns.from_flags(found, column.source)
