"""`Snapshot`: the contents of a Ctrie at one instant, as an immutable mapping."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from latchfree.ctrie.holds import Hold
    from latchfree.ctrie.store import Store

K = TypeVar("K")
V = TypeVar("V")


def _holds(mapping: Mapping[Any, Any], key: Any, value: Any) -> bool:
    try:
        found = key in mapping
    except (TypeError, ValueError):  # not a key it could hold
        return False
    return found and bool(mapping[key] == value)


class _Items(ItemsView[K, V]):
    _mapping: Snapshot[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return self._mapping._entries()


class _Values(ValuesView[V]):
    _mapping: Snapshot[Any, V]

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in self._mapping._entries())

    def __contains__(self, value: object) -> bool:
        return any(value is v or value == v for v in self)


class Snapshot(Mapping[K, V]):
    """What a Ctrie held when `Ctrie.readonly_snapshot` was called. Taking one is O(1); it never changes.

    Iteration follows the hash order of the keys, and two iterations agree. ``len`` counts at its first use.

    A snapshot keeps the memory of what has been removed or replaced since. `close`, the end of a ``with`` block or of
    the last reference (iterators count) gives it back.

    Raises
    ------
    ValueError
        From any use after `close`.
    """

    __slots__ = ("_hold", "_length", "_raw", "_store")

    def __init__(self, store: Store, hold: Hold) -> None:
        self._store = store
        self._hold: Hold | None = hold
        self._raw: Any = None
        self._length: int | None = None

    @property
    def _root(self) -> int:
        return self._held().root

    def _held(self) -> Hold:
        if self._hold is None:
            raise ValueError("this snapshot is closed; take another with readonly_snapshot()")
        self._hold.touch()
        return self._hold

    def close(self) -> None:
        """Give the snapshot up: what only it kept is freed, once running iterators have finished.

        Closing twice is no error.
        """
        self._hold = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._hold is None

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the snapshot to a Parquet file, which `Ctrie.load` reads; returns the number of entries.

        Nobody waits for it, and only a row group at a time is in memory. The file appears whole and on disk, or not at
        all: then whatever was at `path` is as it was.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from latchfree.ctrie import backup

        return backup.save(self._store, self._root, self._held(), path)

    def __enter__(self) -> Snapshot[K, V]:
        self._held()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getitem__(self, key: K) -> V:
        hold = self._held()
        store = self._store
        if self._raw is None:
            self._raw = store.raw_on(hold.root)
        raw = self._raw["find"](store.key(key))
        hold.touch()
        if raw is None:
            raise KeyError(key)
        return store.values.decode(raw)  # type: ignore[no-any-return]

    def _entries(self) -> Iterator[tuple[K, V]]:
        return self._store.entries(self._root, self._held())

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries())

    def items(self) -> ItemsView[K, V]:
        return _Items(self)

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def __len__(self) -> int:
        hold = self._held()
        if self._length is None:
            self._length = self._store.count(self._root, hold)
        return self._length

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and all(_holds(other, key, value) for key, value in self.items())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        raise TypeError("a Snapshot cannot be pickled: its nodes live in this process; send dict(snapshot) instead")

    def __repr__(self) -> str:
        return f"<Snapshot of a Ctrie of {self._store.keys.name} to {self._store.values.name}>"
