"""`Snapshot`: the contents of a Ctrie at one instant, as an immutable mapping."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from latchfree.ctrie import scan

if TYPE_CHECKING:
    from latchfree.ctrie.store import Store

K = TypeVar("K")
V = TypeVar("V")

_BATCH = 1024


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
    """

    __slots__ = ("_context", "_length", "_root", "_store")

    def __init__(self, store: Store, root: int) -> None:
        self._store = store
        self._root = root
        self._context: NDArray[np.uint64] | None = None
        self._length: int | None = None

    def __getitem__(self, key: K) -> V:
        store = self._store
        context = self._context
        if context is None:
            context = self._context = store.context(self._root)
        node = store.calls.find_frozen(context.ctypes.data, store.key(key))
        if node == 0:
            raise KeyError(key)
        return store.value_at(node)  # type: ignore[no-any-return]

    def _entries(self) -> Iterator[tuple[K, V]]:
        return self._store.entries(self._root)

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries())

    def items(self) -> ItemsView[K, V]:
        return _Items(self)

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def __len__(self) -> int:
        if self._length is None:
            cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
            out = np.zeros(_BATCH, np.uint64)
            self._length = int(scan.count(self._store.base, np.uint64(self._root), cursor, out))
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
