"""`OneKey`: what a map does with one key, in Python, through the codecs of keys and values.

Example: ``trie["tea"]`` encodes the key, calls the builtin ``find`` of the store, and decodes what it returns. In a map
of objects what is stored is a pair of key and value (`latchfree.ctrie.references`).

Compiled code does the same for integers, strings and bytes (`latchfree.ctrie.kernels.single`) and for objects
(`latchfree.ctrie.kernels.by_reference`), and calls a method of this class whenever something is out of the ordinary. So
both give the same results: what the compiled code does not do is done here.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, cast, overload

from latchfree.ctrie import references
from latchfree.ctrie.kernels import insert
from latchfree.ctrie.store import Store, refused

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # Types of keys and values; a codec given by name, or none, leaves them open.
    K = TypeVar("K", default=Any)
    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    K = TypeVar("K")
    V = TypeVar("V")

T = TypeVar("T")

_ALWAYS: Final = int(insert.ALWAYS)
_IF_ABSENT: Final = int(insert.IF_ABSENT)
_IF_PRESENT: Final = int(insert.IF_PRESENT)
_IF_EQUAL: Final = int(insert.IF_EQUAL)

_MISSING: Any = object()


class OneKey(MutableMapping[K, V]):
    """The operations on one key of a `latchfree.Ctrie`."""

    __slots__ = ()

    _store: Store

    # encoded ----------------------------------------------------------------------------------------------------

    def _find(self, key: Any) -> Any:
        """Return the stored value under a key, None if there is none."""
        store = self._store
        if store.references:
            return references.find(store, key)
        encoded = store.key(key)
        stored = store.find(encoded)
        if stored is NotImplemented:  # a forked child that has not claimed a participant yet
            store.participant()
            stored = store.find(encoded)
        return stored

    def _write(self, key: Any, value: Any, mode: int, expected: Any) -> Any:
        """Write what is encoded; return the stored value that was there, None as `binding.builtin` says."""
        store = self._store
        stored = store.insert(key, value, mode, expected)
        if stored is NotImplemented:
            stored = store.insist(lambda: store.insert(key, value, mode, expected), refused)
        return stored

    def _take(self, key: Any, mode: int, expected: Any) -> Any:
        """Remove what is encoded; return the stored value that was removed, None if there was none."""
        store = self._store
        stored = store.remove(key, mode, expected)
        if stored is NotImplemented:
            stored = store.insist(lambda: store.remove(key, mode, expected), refused)
        return stored

    def _insert(self, key: K, value: V, mode: int) -> Any:
        """Return the stored value that was there; None if there was none."""
        if self._store.references:
            return references.write(self._store, key, value, mode)
        new = self._store.value(value)
        return self._write(self._store.key(key), new, mode, new)

    def _remove(self, key: K) -> Any:
        """Return the stored value that was removed, None if there was none."""
        store = self._store
        if store.references:
            return references.remove(store, key)
        return self._take(store.key(key), _ALWAYS, 0 if store.values.word else b"")

    def _act_if(self, key: K, expected: V, act: Callable[[Any], Any]) -> bool:
        """Act if `key` holds `expected`; return whether this was so.

        `act` takes the stored value that must be there still, and returns None if another one is. Under a codec that is
        not canonical, one value may be stored in several ways: what is there is read, decoded and compared.
        """
        codec = self._store.values
        encoded = self._store.value(expected)
        if codec.canonical:
            return act(encoded) is not None
        while (stored := self._find(key)) is not None:
            if stored != encoded and not codec.decode(stored) == expected:  # noqa: SIM201 -- what users define is ==
                return False
            if act(stored) is not None:
                return True
        return False

    def _decoded(self, stored: Any) -> V | None:
        return None if stored is None else cast(V, self._store.values.decode(stored))

    # a dict's own names -----------------------------------------------------------------------------------------

    def __getitem__(self, key: K) -> V:
        stored = self._find(key)
        if stored is None:
            raise KeyError(key)
        return cast(V, self._store.values.decode(stored))

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V) -> V: ...
    @overload
    def get(self, key: K, /, default: T) -> V | T: ...
    def get(self, key: K, /, default: Any = None) -> Any:
        """Return the value under `key`, or `default`."""
        stored = self._find(key)
        return default if stored is None else self._store.values.decode(stored)

    def __contains__(self, key: object) -> bool:
        return self._find(key) is not None

    def __setitem__(self, key: K, value: V) -> None:
        self._insert(key, value, _ALWAYS)

    def __delitem__(self, key: K) -> None:
        if self._remove(key) is None:
            raise KeyError(key)

    @overload
    def pop(self, key: K, /) -> V: ...
    @overload
    def pop(self, key: K, /, default: V) -> V: ...
    @overload
    def pop(self, key: K, /, default: T) -> V | T: ...
    def pop(self, key: K, /, default: Any = _MISSING) -> Any:
        """Remove `key` and return its value, or `default`; KeyError without one."""
        stored = self._remove(key)
        if stored is not None:
            return self._store.values.decode(stored)
        if default is _MISSING:
            raise KeyError(key)
        return default

    @overload
    def setdefault(self: OneKey[K, T | None], key: K, default: None = None, /) -> T | None: ...
    @overload
    def setdefault(self, key: K, default: V, /) -> V: ...
    def setdefault(self, key: K, default: Any = None, /) -> Any:
        """Return the value under `key`; if `key` is absent, write `default` there first."""
        return self.get_or_insert(key, default)

    # put, compare, remove ---------------------------------------------------------------------------------------

    def put(self, key: K, value: V) -> V | None:
        """Write `value` under `key`; return the value that was there, or None."""
        return self._decoded(self._insert(key, value, _ALWAYS))

    def put_if_absent(self, key: K, value: V) -> V | None:
        """Write `value` only if `key` is absent; return the value that was there, or None."""
        return self._decoded(self._insert(key, value, _IF_ABSENT))

    def put_if_present(self, key: K, value: V) -> V | None:
        """Write `value` only if `key` is present; return the value that was there, or None."""
        return self._decoded(self._insert(key, value, _IF_PRESENT))

    def get_or_insert(self, key: K, value: V) -> V:
        """Return the value under `key`; if `key` is absent, write `value` there first."""
        stored = self._insert(key, value, _IF_ABSENT)
        return value if stored is None else cast(V, self._store.values.decode(stored))

    def replace(self, key: K, old: V, new: V) -> bool:
        """Write `new` only if `key` holds `old`; return whether it did."""
        if self._store.references:
            return references.write(self._store, key, new, _IF_EQUAL, old) is not None
        stored, written = self._store.key(key), self._store.value(new)
        return self._act_if(key, old, lambda there: self._write(stored, written, _IF_EQUAL, there))

    def remove(self, key: K, expected: V = _MISSING) -> bool:
        """Remove `key`, with `expected` only if `key` holds that value; return whether it was removed."""
        if expected is _MISSING:
            return self._remove(key) is not None
        if self._store.references:
            return references.remove(self._store, key, expected) is not None
        stored = self._store.key(key)
        return self._act_if(key, expected, lambda there: self._take(stored, _IF_EQUAL, there))
