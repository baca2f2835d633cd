"""`Ctrie`: a concurrent hash trie as a MutableMapping."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import Any, TypeVar, cast

from latchfree.arena import Arena
from latchfree.arena.directory import check_codecs
from latchfree.ctrie import many
from latchfree.ctrie.binding import builtin, not_plain
from latchfree.ctrie.codecs import Codec, codec_for
from latchfree.ctrie.holds import Lineage
from latchfree.ctrie.kernels import insert as insert_module
from latchfree.ctrie.kernels import remove as remove_module
from latchfree.ctrie.recovery import reclaim_all
from latchfree.ctrie.store import HASH_MASK_ALL, Store, refused
from latchfree.ctrie.view import Snapshot
from latchfree.structures import CTRIE

K = TypeVar("K")
V = TypeVar("V")

_ALWAYS = int(insert_module.ALWAYS)
_IF_ABSENT = int(insert_module.IF_ABSENT)
_IF_PRESENT = int(insert_module.IF_PRESENT)
_IF_EQUAL = int(insert_module.IF_EQUAL)
_REMOVE_ALWAYS = int(remove_module.ALWAYS)
_REMOVE_IF_EQUAL = int(remove_module.IF_EQUAL)

_MISSING: Any = object()


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
        Where the nodes live; by default a private arena of 64 GiB of address space, of which only what is used
        takes memory.
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

    __slots__ = (
        "__weakref__",
        "_get",
        "_pop",
        "_put",
        "_store",
    )

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
        arena = Arena.anonymous() if arena is None else arena
        store = Store(arena, 0, codec_for(keys, keys=True), codec_for(values), hash_mask)
        store.settle(store.new_trie())
        store.owner = Lineage(arena, store.trie)
        self._attach(store)
        self.update(items)

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        *,
        keys: type | str | Codec = "pickle",
        values: type | str | Codec = "pickle",
        hash_mask: int = HASH_MASK_ALL,
    ) -> Ctrie[Any, Any]:
        """A new, empty Ctrie under a name in an arena, where others find it with `open`.

        It stays until `unlink`, whether or not anybody uses it.

        Parameters
        ----------
        arena : Arena
        name : str
            At most 48 bytes of UTF-8.
        keys, values, hash_mask
            As for `Ctrie`; they are recorded, and `open` refuses others.

        Raises
        ------
        StructureExists
            If the arena has something of that name.
        DirectoryFull
            If it has 64 structures already.
        ArenaFull
            If it has no room.
        """
        store = Store(arena, 0, codec_for(keys, keys=True), codec_for(values), hash_mask, name=name)
        arena.directory.create(
            name,
            kind=CTRIE,
            keys=store.keys.name,
            values=store.values.name,
            hash_mask=hash_mask,
            build=store.new_trie,
        )
        return cls.open(arena, name, keys=store.keys, values=store.values)

    @classmethod
    def open(
        cls,
        arena: Arena,
        name: str,
        *,
        keys: type | str | Codec | None = None,
        values: type | str | Codec | None = None,
    ) -> Ctrie[Any, Any]:
        """The Ctrie of that name in an arena.

        Parameters
        ----------
        arena : Arena
        name : str
        keys, values : type or str or Codec, optional
            Checked against what was recorded; a codec of your own has to be given.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is no Ctrie, or its keys or values are of another kind.
        """
        found = arena.directory.find(name, CTRIE)
        key_codec = codec_for(found.keys if keys is None else keys, keys=True)
        value_codec = codec_for(found.values if values is None else values)
        check_codecs(found, keys=key_codec.name, values=value_codec.name)
        if reclaim_all not in arena.on_death:
            arena.on_death.append(reclaim_all)
        opened: Ctrie[Any, Any] = cls.__new__(cls)
        opened._attach(Store(arena, found.root, key_codec, value_codec, found.hash_mask, name=name))
        return opened

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        arena: Arena | None = None,
        name: str | None = None,
        keys: type | str | Codec | None = None,
        values: type | str | Codec | None = None,
    ) -> Ctrie[Any, Any]:
        """A new Ctrie with the contents of a backup, which `Snapshot.save` wrote. All of it is there, or nothing.

        Parameters
        ----------
        path : path-like
        arena : Arena, optional
            Where the nodes live, as for `Ctrie`.
        name : str, optional
            A name in that arena, as for `create`.
        keys, values : type or str or Codec, optional
            As for `open`.

        Raises
        ------
        ValueError
            If the file is foreign, cut short or corrupted, or its keys or values are of another kind.
        StructureExists, DirectoryFull, ArenaFull
            As from `create`.
        """
        from latchfree.ctrie import backup

        return backup.load(path, arena=arena, name=name, keys=keys, values=values)

    @staticmethod
    def unlink(arena: Arena, name: str) -> None:
        """Take a Ctrie out of an arena's directory and empty it.

        Whoever still has it open goes on with an empty one that nobody else finds.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        """
        Ctrie.open(arena, name).clear()
        arena.directory.remove(name)

    @classmethod
    def _of(cls, store: Store) -> Ctrie[Any, Any]:
        made: Ctrie[Any, Any] = cls.__new__(cls)
        made._attach(store)
        return made

    def _attach(self, store: Store) -> None:
        self._store = store
        self._get = builtin("get", store.context) if store.plain else not_plain
        self._put = builtin("put", store.context) if store.plain else not_plain
        self._pop = builtin("pop", store.context) if store.plain else not_plain

    @property
    def arena(self) -> Arena:
        """The arena its nodes live in."""
        return self._store.arena

    # one key -------------------------------------------------------------------------------------------------

    def _value(self, raw: Any) -> V:
        return cast(V, self._store.values.decode(raw))

    def _look_up(self, key: K) -> Any:
        """The encoded value under a key, None if there is none."""
        store = self._store
        encoded = store.key(key)
        raw = store.raw["find"](encoded)
        if raw is NotImplemented:  # a forked child that has not claimed a participant yet
            store.arena.interpreter_participant()
            raw = store.raw["find"](encoded)
        return raw

    def _insert(self, key: K, value: V, mode: int, expected: Any = _MISSING) -> Any:
        """The encoded value that was there, None if there was none or, under IF_EQUAL, another one."""
        store = self._store
        new = store.value(value)
        arguments = store.key(key), new, mode, new if expected is _MISSING else store.value(expected)
        return store.insist(lambda: store.raw["insert"](*arguments), refused)

    def _remove(self, key: K, mode: int, expected: Any = _MISSING) -> Any:
        """The encoded value that was removed, None if nothing was."""
        store = self._store
        nothing = 0 if store.values.word else b""
        arguments = store.key(key), mode, nothing if expected is _MISSING else store.value(expected)
        return store.insist(lambda: store.raw["remove"](*arguments), refused)

    def __getitem__(self, key: K) -> V:
        value = self._get(key)
        if value is NotImplemented:
            raw = self._look_up(key)
            value = None if raw is None else (self._value(raw),)
            if value is not None:
                return value[0]
        if value is None:
            raise KeyError(key)
        return cast(V, value)

    def get(self, key: K, default: Any = None, /) -> Any:
        """The value under `key`, or `default`."""
        value = self._get(key)
        if value is not NotImplemented:
            return default if value is None else value
        raw = self._look_up(key)
        return default if raw is None else self._value(raw)

    def __contains__(self, key: object) -> bool:
        value = self._get(key)
        if value is NotImplemented:
            value = self._look_up(cast(K, key))
        return value is not None

    def __setitem__(self, key: K, value: V) -> None:
        if self._put(key, value) is NotImplemented:
            self._insert(key, value, _ALWAYS)

    def __delitem__(self, key: K) -> None:
        value = self._pop(key)
        if value is NotImplemented:
            value = self._remove(key, _REMOVE_ALWAYS)
        if value is None:
            raise KeyError(key)

    def put(self, key: K, value: V) -> V | None:
        """Write `value` under `key` and return what was there, None if nothing."""
        return self._value_or_none(self._insert(key, value, _ALWAYS))

    def put_if_absent(self, key: K, value: V) -> V | None:
        """Write `value` unless `key` is there; return what is, None if it was written."""
        return self._value_or_none(self._insert(key, value, _IF_ABSENT))

    def get_or_insert(self, key: K, value: V) -> V:
        """The value under `key`, having written `value` there if it was absent."""
        raw = self._insert(key, value, _IF_ABSENT)
        return value if raw is None else self._value(raw)

    def replace(self, key: K, old: V, new: V) -> bool:
        """Write `new` if `key` holds `old`; True if it did."""
        return self._insert(key, new, _IF_EQUAL, old) is not None

    def replace_existing(self, key: K, value: V) -> V | None:
        """Write `value` only if `key` is there; return what was, None if it was absent."""
        return self._value_or_none(self._insert(key, value, _IF_PRESENT))

    def remove(self, key: K, expected: V = _MISSING) -> bool:
        """Remove `key`, if `expected` is given only from that value; True if it was removed."""
        mode = _REMOVE_ALWAYS if expected is _MISSING else _REMOVE_IF_EQUAL
        return self._remove(key, mode, expected) is not None

    def pop(self, key: K, default: Any = _MISSING, /) -> Any:
        """Remove `key` and return its value, or `default`; KeyError without one."""
        value = self._pop(key)
        if value is NotImplemented:
            raw = self._remove(key, _REMOVE_ALWAYS)
            if raw is not None:
                return self._value(raw)
        elif value is not None:
            return value
        if default is _MISSING:
            raise KeyError(key)
        return default

    def popitem(self) -> tuple[K, V]:
        """Remove and return some pair; KeyError when empty."""
        while True:
            for key in self:
                raw = self._remove(key, _REMOVE_ALWAYS)
                if raw is not None:
                    return key, self._value(raw)
                break  # somebody was faster: look again
            else:
                raise KeyError("popitem(): the Ctrie is empty")

    def setdefault(self, key: K, default: Any = None, /) -> Any:
        """The value under `key`, having written `default` there if it was absent."""
        return self.get_or_insert(key, default)

    def _value_or_none(self, raw: Any) -> V | None:
        return None if raw is None else self._value(raw)

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Write every pair of a mapping (of a Ctrie: of a snapshot of it) or of an iterable of pairs."""
        super().update(other.readonly_snapshot() if isinstance(other, Ctrie) else other, **named)

    # the whole map -------------------------------------------------------------------------------------------

    def readonly_snapshot(self) -> Snapshot[K, V]:
        """The contents at this instant, in O(1). Close it, or let go of it, to give back the memory it keeps."""
        store = self._store
        return Snapshot(store, store.hold())

    def snapshot(self) -> Ctrie[K, V]:
        """A Ctrie of its own that starts with the contents at this instant, in O(1)."""
        return self._of(self._store.fork())

    copy = __copy__ = snapshot

    def clear(self) -> None:
        """Remove everything in one step, in O(1) while there are no snapshots."""
        store = self._store
        if store.clear() is NotImplemented:
            store.insist(store.clear, refused)

    def __len__(self) -> int:
        return len(self.readonly_snapshot())

    def __bool__(self) -> bool:
        return not self._store.call("is_empty")

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
        store = self._store
        if store.name is None or not store.arena.shared:
            raise TypeError(
                "a private Ctrie cannot be pickled: its nodes live in this process; send dict(trie.items()), or make "
                "it with Ctrie.create in an arena of Arena.create"
            )
        return _reopened, (store.arena, store.name, store.keys, store.values)

    # many keys -----------------------------------------------------------------------------------------------

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
        return many.get_many(self._store, keys)

    def put_many(self, keys: Any, values: Any) -> None:
        """Write a batch of pairs without the interpreter lock, in order; each write is atomic, the batch is not.

        Raises
        ------
        ArenaFull
            When there is no room for a pair; its ``done`` says how many were written.
        """
        many.put_many(self._store, keys, values)

    def remove_many(self, keys: Any) -> Any:
        """Remove a batch of keys without the interpreter lock; each removal is atomic, the batch is not.

        Returns
        -------
        pyarrow.BooleanArray, ndarray of bool or list
            As the input: whether each key was there.
        """
        return many.remove_many(self._store, keys)


def _reopened(arena: Arena, name: str, keys: Codec, values: Codec) -> Ctrie[Any, Any]:
    return Ctrie.open(arena, name, keys=keys, values=values)
