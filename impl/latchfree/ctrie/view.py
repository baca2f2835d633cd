"""`Snapshot`: the contents of a Ctrie at one instant, as an immutable mapping."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any, Final, TypeVar

from latchfree.ctrie.bases import SnapshotBase
from latchfree.ctrie.holds import Hold
from latchfree.ctrie.kernels import insert
from latchfree.ctrie.references import pair_of, write
from latchfree.ctrie.store import Store

K = TypeVar("K")
V = TypeVar("V")

_ALWAYS: Final = int(insert.ALWAYS)


def _maps(mapping: Mapping[Any, Any], key: Any, value: Any) -> bool:
    """Return whether a mapping has `value` under `key`."""
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


class Snapshot(SnapshotBase, Mapping[K, V]):
    """The contents of a Ctrie at the instant of `Ctrie.readonly_snapshot`. Taking one is O(1); it never changes.

    Iteration follows the hash order of the keys, and two iterations agree. ``len`` counts at its first use.

    A snapshot keeps the memory of everything removed or replaced since. `close`, the end of a ``with`` block or the end
    of the last reference (iterators count) gives the memory back.

    Raises
    ------
    ValueError
        From any use after `close`.

    Examples
    --------
    >>> from latchfree import Ctrie
    >>> trie = Ctrie({"tea": 4}, keys=str, values=int)
    >>> with trie.readonly_snapshot() as before:
    ...     trie["tea"] = 5
    ...     before["tea"]
    4
    """

    __slots__ = ("_find", "_length")  # both are there from their first use on: compiled code makes snapshots, too

    _store: Store
    _hold: Hold | None
    _find: Callable[[Any], Any]
    _length: int

    def __init__(self, store: Store, hold: Hold) -> None:
        self._store = store
        self._hold = hold

    def _held(self) -> Hold:
        if self._hold is None:
            raise ValueError("this snapshot is closed; take another with readonly_snapshot()")
        self._hold.touch()
        return self._hold

    def close(self) -> None:
        """Give the snapshot up, and its memory once running iterators have finished.

        Closing twice is no error.
        """
        self._hold = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._hold is None

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the snapshot to a Parquet file, which `Ctrie.load` reads.

        Nobody waits for the writer, and only a row group at a time is in memory. The file appears complete and on disk,
        or not at all: then a file that was at `path` stays as it was.

        Parameters
        ----------
        path : path-like
            The file to write.

        Returns
        -------
        int
            Number of entries.

        Raises
        ------
        OSError
            If the file cannot be written.
        MissingExtra
            If Arrow is not installed.
        """
        from latchfree.ctrie import backup  # loads Arrow

        return backup.save(self._store, self._held(), path)

    def __enter__(self) -> Snapshot[K, V]:
        self._held()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getitem__(self, key: K) -> V:
        hold = self._held()
        store = self._store
        try:
            find = self._find
        except AttributeError:
            find = self._find = store.find_below(hold)
        if store.references:
            stored = pair_of(find, key)
            if stored is None:
                raise KeyError(key)
            return store.values.decode(stored)  # type: ignore[no-any-return]
        stored = find(store.key(key))
        hold.touch()
        if stored is None:
            raise KeyError(key)
        return store.values.decode(stored)  # type: ignore[no-any-return]

    def _entries(self) -> Iterator[tuple[K, V]]:
        return self._store.entries(self._held())

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries())

    def items(self) -> ItemsView[K, V]:
        """Return the pairs, as a view."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """Return the values, as a view."""
        return _Values(self)

    def __len__(self) -> int:
        hold = self._held()
        try:
            return self._length
        except AttributeError:
            length = self._length = self._store.count(hold)
            return length

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and all(_maps(other, key, value) for key, value in self.items())

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Snapshot[K, V]:
        """Return a snapshot of the same contents, which is closed on its own."""
        return Snapshot(self._store, self._held())

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot[K, V]:
        if not self._store.references:
            return self.__copy__()
        store = self._store.like_this()
        for key, value in self.items():
            write(store, copy.deepcopy(key, memo), copy.deepcopy(value, memo), _ALWAYS)
        return Snapshot(store, store.hold())

    def __reduce__(self) -> Any:
        raise TypeError("a Snapshot cannot be pickled: its nodes live in this process; send dict(snapshot) instead")

    def __repr__(self) -> str:
        return f"<Snapshot of a Ctrie of {self._store.keys.name} to {self._store.values.name}>"
