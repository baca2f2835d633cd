"""`Ctrie`: a concurrent hash trie as a MutableMapping."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import Any, TypeVar, cast

import numpy as np

from latchfree.arena import Arena
from latchfree.ctrie import bulk, columns
from latchfree.ctrie import insert as insert_module
from latchfree.ctrie import remove as remove_module
from latchfree.ctrie.builtins import builtin, not_plain
from latchfree.ctrie.calls import create
from latchfree.ctrie.codecs import (
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
    Codec,
    codec_for,
)
from latchfree.ctrie.snapshots import Snapshot
from latchfree.ctrie.store import Store
from latchfree.errors import ArenaFull

K = TypeVar("K")
V = TypeVar("V")

_FULL = int(insert_module.FULL)
_ALWAYS = int(insert_module.ALWAYS)
_IF_ABSENT = int(insert_module.IF_ABSENT)
_IF_PRESENT = int(insert_module.IF_PRESENT)
_IF_EQUAL = int(insert_module.IF_EQUAL)
_REMOVE_ALWAYS = int(remove_module.ALWAYS)
_REMOVE_IF_EQUAL = int(remove_module.IF_EQUAL)

#: Every bit of the hash places a key.
HASH_MASK_ALL = (1 << 64) - 1

_MISSING: Any = object()

#: Keys a bulk call handles between two chances for Ctrl-C.
_SLICE = 1 << 16


class Ctrie(MutableMapping[K, V]):
    """A lock-free hash trie with O(1) snapshots, shared by any number of threads.

    Every operation is linearizable: it takes effect at one instant between its call and its return. ``len``,
    iteration, ``keys``, ``values`` and ``items`` show the contents at the instant of their call, on a read-only
    snapshot; ``len`` counts, so it is O(n). After a snapshot, the first accesses renew the paths they take.

    Parameters
    ----------
    items : mapping or iterable of pairs, optional
        Initial contents.
    keys, values : type or str or Codec
        ``int`` (64 bits, signed), ``str``, ``bytes``, ``"pickle"`` or a `Codec`.
    arena : Arena, optional
        Where the nodes live; by default a private arena of 64 GiB of address space. Memory is not yet
        reclaimed: it grows with every change.
    hash_mask : int
        Which of the 64 hash bits place a key, six a level from the lowest. Fewer force collisions and depth, for
        tests and teaching.

    Raises
    ------
    TypeError, ValueError
        From any operation whose key or value the codec refuses; nothing changes.
    ArenaFull
        From any operation that writes when the arena has no room; nothing changes.

    Notes
    -----
    The algorithm is that of Prokopec, Bronson, Bagwell and Odersky, "Concurrent Tries with Efficient
    Non-Blocking Snapshots" (PPoPP 2012), corrected: see ``spec/README.md``.

    Examples
    --------
    >>> trie = Ctrie({"a": 1}, keys=str, values=int)
    >>> before = trie.readonly_snapshot()
    >>> trie["b"] = 2
    >>> sorted(trie.items()), dict(before)
    ([('a', 1), ('b', 2)], {'a': 1})
    """

    __slots__ = ("__weakref__", "_address", "_context", "_get", "_pop", "_put", "_store")

    def __init__(
        self,
        items: Any = (),
        /,
        *,
        keys: type | str | Codec = "pickle",
        values: type | str | Codec = "pickle",
        arena: Arena | None = None,
        hash_mask: int = HASH_MASK_ALL,
    ) -> None:
        hash_mask = operator.index(hash_mask)
        if not 0 <= hash_mask <= HASH_MASK_ALL:
            raise ValueError(f"hash_mask must be from 0 to 2**64 - 1, got {hash_mask}")
        key_codec, value_codec = codec_for(keys, keys=True), codec_for(values)
        arena = Arena.anonymous() if arena is None else arena
        trie = create()(arena.base, arena.interpreter_participant(), hash_mask)
        self._attach(Store(arena, trie, key_codec, value_codec, hash_mask))
        self._check(trie)
        self.update(items)

    def _attach(self, store: Store) -> None:
        self._store = store
        self._context = store.context()
        self._address = self._context.ctypes.data
        plain = store.keys.word and store.values.word
        self._get = builtin("get", self._context) if plain else not_plain
        self._put = builtin("put", self._context) if plain else not_plain
        self._pop = builtin("pop", self._context) if plain else not_plain

    def _check(self, node: int) -> int:
        """Pass on the result of a writing call, unless it says that there was no room."""
        if node == _FULL:
            raise ArenaFull(
                f"the arena is full ({self.arena.capacity:,} bytes); nothing changed. "
                "Create the Ctrie in a larger one: Ctrie(..., arena=Arena.anonymous(capacity))"
            )
        return node

    @property
    def arena(self) -> Arena:
        """The arena its nodes live in."""
        return self._store.arena

    # one key -------------------------------------------------------------------------------------------------

    def __getitem__(self, key: K) -> V:
        value = self._get(key)
        if value is None:
            raise KeyError(key)
        if value is not NotImplemented:
            return value  # type: ignore[no-any-return]
        node = self._find(key)
        if node == 0:
            raise KeyError(key)
        return cast(V, self._store.value_at(node))

    def _find(self, key: K) -> int:
        return cast(int, self._store.calls.find(self._address, self._store.key(key)))

    def get(self, key: K, default: Any = None, /) -> Any:
        """The value under `key`, or `default`."""
        value = self._get(key)
        if value is not NotImplemented:
            return default if value is None else value
        node = self._find(key)
        return default if node == 0 else self._store.value_at(node)

    def __contains__(self, key: object) -> bool:
        value = self._get(key)
        if value is not NotImplemented:
            return value is not None
        return self._find(cast(K, key)) != 0

    def __setitem__(self, key: K, value: V) -> None:
        if self._put(key, value) is NotImplemented:
            self._insert(key, value, _ALWAYS)

    def _insert(self, key: K, value: V, mode: int, expected: Any = _MISSING) -> int:
        store = self._store
        encoded = store.value(value)
        wanted = encoded if expected is _MISSING else store.value(expected)
        return self._check(store.calls.insert(self._address, store.key(key), encoded, mode, wanted))

    def _remove(self, key: K, mode: int, expected: Any = _MISSING) -> int:
        store = self._store
        wanted = (0 if store.values.word else (0, 0)) if expected is _MISSING else store.value(expected)
        return self._check(store.calls.remove(self._address, store.key(key), mode, wanted))

    def __delitem__(self, key: K) -> None:
        value = self._pop(key)
        if value is None or (value is NotImplemented and self._remove(key, _REMOVE_ALWAYS) == 0):
            raise KeyError(key)

    def put(self, key: K, value: V) -> V | None:
        """Write `value` under `key` and return what was there, None if nothing."""
        return self._value_or_none(self._insert(key, value, _ALWAYS))

    def put_if_absent(self, key: K, value: V) -> V | None:
        """Write `value` unless `key` is there; return what is, None if it was written."""
        return self._value_or_none(self._insert(key, value, _IF_ABSENT))

    def get_or_insert(self, key: K, value: V) -> V:
        """The value under `key`, having written `value` there if it was absent."""
        node = self._insert(key, value, _IF_ABSENT)
        return value if node == 0 else cast(V, self._store.value_at(node))

    def replace(self, key: K, old: V, new: V) -> bool:
        """Write `new` if `key` holds `old`; True if it did."""
        return self._insert(key, new, _IF_EQUAL, old) != 0

    def replace_existing(self, key: K, value: V) -> V | None:
        """Write `value` only if `key` is there; return what was, None if it was absent."""
        return self._value_or_none(self._insert(key, value, _IF_PRESENT))

    def remove(self, key: K, expected: V = _MISSING) -> bool:
        """Remove `key`, if `expected` is given only from that value; True if it was removed."""
        mode = _REMOVE_ALWAYS if expected is _MISSING else _REMOVE_IF_EQUAL
        return self._remove(key, mode, expected) != 0

    def pop(self, key: K, default: Any = _MISSING, /) -> Any:
        """Remove `key` and return its value, or `default`; KeyError without one."""
        value = self._pop(key)
        if value is NotImplemented:
            node = self._remove(key, _REMOVE_ALWAYS)
            if node != 0:
                return self._store.value_at(node)
        elif value is not None:
            return value
        if default is _MISSING:
            raise KeyError(key)
        return default

    def popitem(self) -> tuple[K, V]:
        """Remove and return some pair; KeyError when empty."""
        store = self._store
        while True:
            for key, _ in self.readonly_snapshot().items():
                node = self._remove(key, _REMOVE_ALWAYS)
                if node != 0:
                    return key, cast(V, store.value_at(node))
                break  # somebody was faster: look again
            else:
                raise KeyError("popitem(): the Ctrie is empty")

    def setdefault(self, key: K, default: Any = None, /) -> Any:
        """The value under `key`, having written `default` there if it was absent."""
        return self.get_or_insert(key, default)

    def _value_or_none(self, node: int) -> V | None:
        return None if node == 0 else cast(V, self._store.value_at(node))

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Write every pair of a mapping (of a Ctrie: of a snapshot of it) or of an iterable of pairs."""
        super().update(other.readonly_snapshot() if isinstance(other, Ctrie) else other, **named)

    # the whole map -------------------------------------------------------------------------------------------

    def readonly_snapshot(self) -> Snapshot[K, V]:
        """The contents at this instant, in O(1)."""
        return Snapshot(self._store, self._check(self._store.calls.freeze(self._address)))

    def snapshot(self) -> Ctrie[K, V]:
        """A Ctrie of its own that starts with the contents at this instant, in O(1)."""
        store = self._store
        root = self._check(store.calls.freeze(self._address))
        context = store.context(root)
        trie = self._check(store.calls.fork(context.ctypes.data, store.hash_mask))
        copy: Ctrie[K, V] = Ctrie.__new__(Ctrie)
        copy._attach(Store(store.arena, trie, store.keys, store.values, store.hash_mask))
        return copy

    copy = __copy__ = snapshot

    def clear(self) -> None:
        """Remove everything, in O(1) and in one step."""
        self._check(self._store.calls.clear(self._address))

    def __len__(self) -> int:
        return len(self.readonly_snapshot())

    def __bool__(self) -> bool:
        return not self._store.calls.is_empty(self._address)

    def __iter__(self) -> Iterator[K]:
        return iter(self.readonly_snapshot())

    def keys(self) -> KeysView[K]:
        return self.readonly_snapshot().keys()

    def items(self) -> ItemsView[K, V]:
        return self.readonly_snapshot().items()

    def values(self) -> ValuesView[V]:
        return self.readonly_snapshot().values()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.readonly_snapshot() == (other.readonly_snapshot() if isinstance(other, Ctrie) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        store = self._store
        return f"<Ctrie of {store.keys.name} to {store.values.name}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Ctrie cannot be pickled: its nodes live in this process's arena; send dict(trie.items()) instead"
        )

    # many keys -----------------------------------------------------------------------------------------------

    def _slices(self, length: int) -> Iterator[tuple[int, int]]:
        for first in range(0, length, _SLICE):
            yield first, min(first + _SLICE, length)

    def _bulk_arguments(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        store = self._store
        return store.base, np.uint64(store.trie), np.uint64(store.arena.participant())

    def get_many(self, keys: Any) -> Any:
        """Look up a batch of keys without the interpreter lock; each lookup is atomic, the batch is not.

        Parameters
        ----------
        keys : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence

        Returns
        -------
        pyarrow.Array, ndarray or list
            As the input; a key that is absent gives a null, a masked element (None in an object array) or None.
        """
        store = self._store
        column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
        where = self._bulk_arguments()
        if store.values.word:
            out = np.zeros(column.length, np.int64)
            found = np.zeros(column.length, np.uint8)
            for first, last in self._slices(column.length):
                bulk.get_words(*where, column.data, first, last, out, found)
            return columns.from_words(out, found, column.source)
        nodes = np.zeros(column.length, np.uint64)
        offsets = np.zeros(column.length + 1, np.int64)
        for first, last in self._slices(column.length):
            bulk.get_nodes(*where, column.data, first, last, nodes, offsets[1:])
        np.cumsum(offsets, out=offsets)
        data = np.empty(int(offsets[-1]), np.uint8)
        bulk.copy_values(store.base, nodes, column.data, offsets, data)
        return columns.from_blobs(data, offsets, nodes != 0, store.values, column.source)

    def put_many(self, keys: Any, values: Any) -> None:
        """Write a batch of pairs without the interpreter lock, in order; each write is atomic, the batch is not.

        Raises
        ------
        ArenaFull
            When there is no room for a pair; its ``done`` says how many were written.
        """
        store = self._store
        key_column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
        value_column = columns.to_column(values, store.values, "values", MAX_VALUE_BYTES)
        if key_column.length != value_column.length:
            raise ValueError(f"got {key_column.length} keys but {value_column.length} values")
        where = self._bulk_arguments()
        for first, last in self._slices(key_column.length):
            done = int(bulk.put_all(*where, key_column.data, value_column.data, first, last))
            self._check_bulk(first, last, done)

    def remove_many(self, keys: Any) -> Any:
        """Remove a batch of keys without the interpreter lock; each removal is atomic, the batch is not.

        Returns
        -------
        pyarrow.BooleanArray, ndarray of bool or list
            As the input: whether each key was there.
        """
        store = self._store
        column = columns.to_column(keys, store.keys, "keys", MAX_KEY_BYTES)
        found = np.zeros(column.length, np.uint8)
        where = self._bulk_arguments()
        for first, last in self._slices(column.length):
            done = int(bulk.remove_all(*where, column.data, first, last, found))
            self._check_bulk(first, last, done)
        return columns.from_flags(found, column.source)

    def _check_bulk(self, first: int, last: int, done: int) -> None:
        if done < last - first:
            total = first + done
            raise ArenaFull(
                f"the arena is full ({self.arena.capacity:,} bytes) after {total} elements, which took effect; "
                f"element {total} and the rest did not",
                done=total,
            )
