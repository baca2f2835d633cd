"""`Ctrie`: a concurrent hash trie as a MutableMapping."""

from __future__ import annotations

import copy
import os
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from latchfree.arena import Arena
from latchfree.arena.entry import check_codecs
from latchfree.ctrie import many, many_references, references
from latchfree.ctrie.codecs import Codec, CodecName, codec_for
from latchfree.ctrie.kernels import insert
from latchfree.ctrie.one_key import K, OneKey, V
from latchfree.ctrie.recovery import reclaim_all
from latchfree.ctrie.references import chosen
from latchfree.ctrie.slots import Slots, give_context, keep_calls
from latchfree.ctrie.store import HASH_MASK_ALL, Store, refused
from latchfree.ctrie.view import Snapshot
from latchfree.structures import CTRIE

if TYPE_CHECKING:
    from _typeshed import SupportsKeysAndGetItem
    from typing_extensions import TypeVar

    NewK = TypeVar("NewK", default=Any)
    NewV = TypeVar("NewV", default=Any)

_ALWAYS: Final = int(insert.ALWAYS)

#: Keys that `popitem` looks at together.
_FEW: Final = 8

#: Pairs that a notebook shows.
_SHOWN: Final = 50


class Ctrie(Slots, OneKey[K, V]):
    """A lock-free hash trie with O(1) snapshots, shared by any number of threads.

    Every operation is linearizable: it takes effect at one instant between its call and its return. ``len``,
    iteration, ``keys``, ``values`` and ``items`` show the contents at the instant of their call, on a read-only
    snapshot; ``len`` counts, so it is O(n). After a snapshot, the first writes copy the paths they take.

    The names of the operations follow one scheme:

    ===================================================================  =======================================
    operations                                                           result
    ===================================================================  =======================================
    ``put``, ``put_if_absent``, ``put_if_present``                       the value that was there, or None
    ``replace(key, old, new)``, ``remove(key)``,                         True if the operation took effect
    ``remove(key, expected)``
    ``get_or_insert(key, value)``                                        the value that is there afterwards
    ``get_many``, ``put_many``, ``remove_many``                          of many keys, in kind
    ``get``, ``pop``, ``popitem``, ``setdefault``, ``update``, ``in``,   as of a dict
    ``trie[key]``, ``trie[key] = value``, ``del trie[key]``
    ===================================================================  =======================================

    Parameters
    ----------
    items : mapping or iterable of pairs, optional
        Initial contents.
    keys, values : type or str or Codec, optional
        ``object`` for both, which is the default of a private map: the map holds the objects themselves, and keys are
        the same as in a dict. Otherwise ``int`` (64 bits, signed), ``str``, ``bytes``, ``"json"``, ``"pickle"`` or a
        `Codec`, and keys are the same if they are stored as the same: under ``"pickle"`` the keys 1, 1.0 and True are
        three. One that is left open is ``"pickle"`` if the other is given, or the arena is shared.
    arena : Arena, optional
        Where the nodes live; by default a private arena of 64 GiB of address space. Only the used part takes memory.
    hash_mask : int
        Which of the 64 hash bits place a key, six a level from the lowest. Fewer force collisions and depth, for
        tests and teaching.

    Raises
    ------
    TypeError, ValueError
        From any operation whose key or value the codec refuses; nothing changes. What `__hash__` and `__eq__` of an
        object raise comes out of the operation, too.
    ArenaFull
        From any operation that writes when the arena has no room; nothing changes.
    GenerationsExhausted
        From snapshots and ``clear`` after 2**40 of them in one arena; nothing changes, and puts go on.

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

    __slots__ = ("__weakref__", "_store")

    def __init__(
        self,
        items: SupportsKeysAndGetItem[K, V] | Iterable[tuple[K, V]] = (),
        /,
        *,
        keys: type[K] | Codec[K] | CodecName | None = None,
        values: type[V] | Codec[V] | CodecName | None = None,
        arena: Arena | None = None,
        hash_mask: int = HASH_MASK_ALL,
    ) -> None:
        codecs = chosen(keys, values, shared=getattr(arena, "shared", False))
        self._attach(Store.with_new_trie(Arena.anonymous() if arena is None else arena, *codecs, hash_mask))
        self.update(items)

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        *,
        keys: type[NewK] | Codec[NewK] | CodecName = "pickle",
        values: type[NewV] | Codec[NewV] | CodecName = "pickle",
        hash_mask: int = HASH_MASK_ALL,
    ) -> Ctrie[NewK, NewV]:
        """Make an empty Ctrie under a name in an arena, where other processes find it with `open`.

        The Ctrie stays until `unlink`, whether or not anybody uses it.

        Parameters
        ----------
        arena : Arena
            The arena in which the map is made.
        name : str
            At most 48 bytes of UTF-8.
        keys, values, hash_mask
            As for `Ctrie`; they are recorded, and `open` refuses others.

        Returns
        -------
        Ctrie

        Raises
        ------
        StructureExists
            If the arena has something of that name.
        DirectoryFull
            If the arena has 64 structures already.
        ArenaFull
            If the arena has no room.
        """
        store = Store(arena, 0, codec_for(keys, keys=True), codec_for(values), hash_mask, name=name)
        arena.directory.create(
            name,
            kind=CTRIE,
            keys=store.keys.name,
            values=store.values.name,
            hash_mask=hash_mask,
            build=store.new_trie,
            dismantle=partial(store.destroy, maker=arena.identity),
        )
        return cls.open(arena, name, keys=store.keys, values=store.values)

    @classmethod
    def open(
        cls,
        arena: Arena,
        name: str,
        *,
        keys: type[NewK] | Codec[NewK] | CodecName | None = None,
        values: type[NewV] | Codec[NewV] | CodecName | None = None,
    ) -> Ctrie[NewK, NewV]:
        """Return the Ctrie of that name in an arena.

        Parameters
        ----------
        arena : Arena
            The arena in which the map was made.
        name : str
            The name that `create` was given.
        keys, values : type or str or Codec, optional
            Checked against the recorded kinds; a codec of your own has to be given.

        Returns
        -------
        Ctrie

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If the structure is no Ctrie, or its keys or values are of another kind.
        """
        found = arena.directory.find(name, CTRIE)
        key_codec = codec_for(found.keys if keys is None else keys, keys=True)
        value_codec = codec_for(found.values if values is None else values)
        check_codecs(found, keys=key_codec.name, values=value_codec.name)
        return cls._of(Store(arena, found.root, key_codec, value_codec, found.hash_mask, name=name))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        arena: Arena | None = None,
        name: str | None = None,
        keys: type[NewK] | Codec[NewK] | CodecName | None = None,
        values: type[NewV] | Codec[NewV] | CodecName | None = None,
    ) -> Ctrie[NewK, NewV]:
        """Make a Ctrie with the contents of a backup that `Snapshot.save` wrote: with all of them, or none at all.

        Parameters
        ----------
        path : path-like
            The backup.
        arena : Arena, optional
            Where the nodes live, as for `Ctrie`.
        name : str, optional
            A name in that arena, as for `create`.
        keys, values : type or str or Codec, optional
            As for `open`.

        Returns
        -------
        Ctrie

        Raises
        ------
        ValueError
            If the file is foreign, cut short or corrupted, or its keys or values are of another kind.
        StructureExists, DirectoryFull, ArenaFull
            As from `create`.
        MissingExtra
            If Arrow is not installed.
        """
        from latchfree.ctrie import backup  # loads Arrow

        return cls._of(backup.load(path, arena=arena, name=name, keys=keys, values=values))

    @staticmethod
    def unlink(arena: Arena, name: str) -> None:
        """Take a Ctrie out of an arena's directory and empty it.

        A process that still has the Ctrie open goes on with an empty one, which nobody else finds.

        Parameters
        ----------
        arena : Arena
            The arena in which the map was made.
        name : str
            The name that `create` was given.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        """
        found = arena.directory.find(name, CTRIE, call="unlink")
        encoded = codec_for(bytes)  # nothing is decoded
        Ctrie._of(Store(arena, found.root, encoded, encoded, found.hash_mask)).clear()
        arena.directory.remove(name, root=found.root)

    @classmethod
    def _of(cls, store: Store) -> Ctrie[Any, Any]:
        if store.name is not None and reclaim_all not in store.arena.on_death:
            store.arena.on_death.append(reclaim_all)
        made: Ctrie[Any, Any] = cls.__new__(cls)
        made._attach(store)
        return made

    def _attach(self, store: Store) -> None:
        before = getattr(self, "_store", None)
        if before is not None and before.references:
            store.before = before  # an operation on it may be under way, and have called this
        give_context(self, store)

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        keep_calls(cls)

    @property
    def arena(self) -> Arena:
        """The arena that holds the nodes."""
        return self._store.arena

    def popitem(self) -> tuple[K, V]:
        """Remove and return some pair; KeyError when empty."""
        store = self._store
        if store.references:
            return cast("tuple[K, V]", references.remove_some(store, _FEW))
        while True:
            key = None
            for keys, _ in store.batches(store.hold(), _FEW):
                for key in keys:
                    # As it is stored: another encoding of the same key would not be found.
                    name = store.keys.decode(key)
                    stored = self._take(key, _ALWAYS, 0 if store.values.word else b"")
                    if stored is not None:
                        return name, store.values.decode(stored)
                    # somebody was faster: try the next one
            if key is None:
                raise KeyError("popitem(): the Ctrie is empty")

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Write every pair of a mapping (of a Ctrie: of a snapshot of it) or of an iterable of pairs."""
        if isinstance(other, Ctrie):
            other = other.readonly_snapshot()
        if isinstance(other, Snapshot):
            if self._store.references or other._store.references:
                other = other.items()
            else:
                self._copy(other)
                other = ()
        super().update(other, **named)

    def _copy(self, snapshot: Snapshot[K, V]) -> None:
        """Write every pair of a snapshot, as it is stored where the codecs are the same."""
        mine, theirs = self._store, snapshot._store
        for keys, values in theirs.batches(snapshot._held()):
            if mine.keys is not theirs.keys:
                keys = [mine.key(theirs.keys.decode(key)) for key in keys]
            if mine.values is not theirs.values:
                values = [mine.value(theirs.values.decode(value)) for value in values]
            for key, value in zip(keys, values, strict=True):
                self._write(key, value, _ALWAYS, value)

    # the whole map ---------------------------------------------------------------------------------------------

    def readonly_snapshot(self) -> Snapshot[K, V]:
        """Return the contents at this instant, in O(1).

        Close the snapshot, or drop the last reference to it, to give back the memory it keeps.
        """
        store = self._store
        made: Any = store.view_now()
        if made is NotImplemented:
            return Snapshot(store, store.hold())
        return made  # type: ignore[no-any-return]

    def snapshot(self) -> Ctrie[K, V]:
        """Return a Ctrie of its own that starts with the contents at this instant, in O(1).

        ``copy`` and `copy.copy` do the same, and `copy.deepcopy` unless the map holds objects, which are copied then.
        The new Ctrie is private, also if this one has a name: it lives in the same arena, has no name, and goes with
        its last reference.
        """
        store = self._store
        owner = store.fork_now()
        if owner is NotImplemented:
            return self._of(store.fork())
        cls = type(self)
        made: Ctrie[K, V] = cls.__new__(cls)
        made._store = store = store.beside(owner)
        made._context = store._context
        return made

    copy = __copy__ = snapshot

    def __deepcopy__(self, memo: dict[int, Any]) -> Ctrie[K, V]:
        store = self._store
        if not store.references:
            return self.snapshot()
        made: Ctrie[K, V] = self._of(store.like_this())
        memo[id(self)] = made
        for key, value in self.items():
            made[copy.deepcopy(key, memo)] = copy.deepcopy(value, memo)
        return made

    def clear(self) -> None:
        """Remove everything in one step, in O(1) while there are no snapshots; objects are dropped one by one."""
        store = self._store
        if store.clear() is NotImplemented:
            store.insist(store.clear, refused, anew=True)
        if store.references:
            references.settle(store.arena)

    def __len__(self) -> int:
        return len(self.readonly_snapshot())

    def __bool__(self) -> bool:
        return not self._store.call("is_empty")

    def __iter__(self) -> Iterator[K]:
        return iter(self.readonly_snapshot())

    def keys(self) -> KeysView[K]:
        """Return the keys of a snapshot taken now, as a view."""
        return self.readonly_snapshot().keys()

    def items(self) -> ItemsView[K, V]:
        """Return the pairs of a snapshot taken now, as a view."""
        return self.readonly_snapshot().items()

    def values(self) -> ValuesView[V]:
        """Return the values of a snapshot taken now, as a view."""
        return self.readonly_snapshot().values()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.readonly_snapshot() == (other.readonly_snapshot() if isinstance(other, Ctrie) else other)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: how many pairs there are, and the first ones."""
        from latchfree_support.notebook import panel, table

        with self.readonly_snapshot() as shown:
            pairs = [(repr(key), repr(value)) for key, value in islice(shown.items(), _SHOWN)]
            count = len(shown)
        more = f", the first {len(pairs)}" if count > len(pairs) else ""
        return panel(f"Ctrie with {count:,} pairs{more}", [table(pairs, ("key", "value"))] if pairs else [])

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

    # many keys -------------------------------------------------------------------------------------------------

    def get_many(self, keys: Any) -> Any:
        """Look up many keys without the interpreter lock; each lookup is atomic, all together are not.

        Parameters
        ----------
        keys : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence
            The keys to look up, in any order; a key may be there more than once.

        Returns
        -------
        pyarrow.Array, ndarray or list
            As the input; a key that is absent gives a null, a masked element (None in an object array) or None.
        """
        if self._store.references:
            return many_references.get_many(self, keys)
        return many.get_many(self._store, keys)

    def put_many(self, keys: Any, values: Any) -> None:
        """Write many pairs without the interpreter lock, in order; each write is atomic, all together are not.

        Parameters
        ----------
        keys, values : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence
            Of one length.

        Raises
        ------
        ArenaFull
            When there is no room for a pair; its ``done`` says how many were written.
        """
        if self._store.references:
            many_references.put_many(self, keys, values)
        else:
            many.put_many(self._store, keys, values)

    def remove_many(self, keys: Any) -> Any:
        """Remove many keys without the interpreter lock; each removal is atomic, all together are not.

        Parameters
        ----------
        keys : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence
            The keys to remove, one after the other; a key that is there twice is removed the first time.

        Returns
        -------
        pyarrow.BooleanArray, ndarray of bool or list
            As the input: whether each key was there.
        """
        if self._store.references:
            return many_references.remove_many(self, keys)
        return many.remove_many(self._store, keys)


def _reopened(arena: Arena, name: str, keys: Codec[Any], values: Codec[Any]) -> Ctrie[Any, Any]:
    return Ctrie.open(arena, name, keys=keys, values=values)
