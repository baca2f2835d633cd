"""`Store`: one trie in one arena with its codecs, shared by `Ctrie` and `Snapshot`.

A store encodes keys and values, calls the compiled code, and reads entries out of the arena. The faces decide what a
result means to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np

from latchfree.arena import Arena
from latchfree.arena.layout import H_GENERATION
from latchfree.arena.lending import Loan
from latchfree.arena.patience import Patience
from latchfree.arguments import integer, shown
from latchfree.ctrie.bases import StoreBase
from latchfree.ctrie.binding import builtin, new_context
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES, Codec, as_bytes
from latchfree.ctrie.holds import Hold, Owner, Taken, new_hold, new_owner
from latchfree.ctrie.kernels import scan
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import LAST_GENERATION
from latchfree.ctrie.kernels.shape import IDLE
from latchfree.ctrie.kernels.snode import HELD_KEY
from latchfree.ctrie.references import REFERENCES, watch
from latchfree.errors import ArenaFull, GenerationsExhausted, MadeBeforeFork

#: Every bit of the hash places a key.
HASH_MASK_ALL: Final = (1 << 64) - 1

_BATCH: Final = 1024
_FULL: Final = int(FULL)
_IDLE: Final = int(IDLE)


def refused(result: Any) -> bool:
    """Return whether a builtin says that it did nothing."""
    return result is NotImplemented


class _FromFirstUse:
    """A part of a store that is made when it is first asked for, and then is in the store's ``__dict__``.

    A ``__getattr__`` of the store would slow down every access to the store.

    Parameters
    ----------
    make : callable
        Returns the part, of a store and the name of the attribute.
    """

    __slots__ = ("_make", "_name")

    def __init__(self, make: Callable[[Store, str], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, store: Store | None, owner: type[Any] | None = None) -> Any:
        if store is None:
            return self
        name = self._name
        made = store.__dict__[name] = self._make(store, name)
        return made


def _from_first_use(make: Callable[[Store, str], Any]) -> Any:
    return _FromFirstUse(make)


def _on_trie(store: Store, name: str) -> Any:
    return store.builtin(name)


def _giving(store: Store, name: str) -> Any:
    return store.builtin("drop_slot" if store.shared else "give_slot")


def _of_kinds(store: Store, name: str) -> Any:
    return store.builtin(name + store.kinds)


def _bytes_of(store: Store, name: str) -> memoryview:
    return memoryview(store.arena.words.data).cast("B")


class Store(StoreBase):
    """A trie, and how its keys and values are stored.

    Parameters
    ----------
    arena : Arena
    trie : int
        Word offset of the trie's root word; 0 for a trie that is made later, see `settle`.
    keys, values : Codec
    hash_mask : int
        Which of the 64 hash bits place a key.
    owner : Owner, optional
        Destroys the trie in the end, if it is private.
    name : str, optional
        Name of the trie in the directory of the arena.

    Attributes
    ----------
    base : int
        Address of the arena.
    maker : int
        The identity of the opening to which alone the trie belongs; 0 if others may use the trie, too.
    kinds : str
        The end of the names of calls, as ``_wb`` for keys that are words and values that are blobs; ``_o`` for objects.
    before : Store or None
        The store that the map had until `__init__` was called again.
    references : bool
        Whether keys and values are objects, by reference.
    shared : bool
        Whether other processes can open the arena.
    clear, take_now : callable
        The builtins of these names; see `latchfree.ctrie.binding.builtin`. All builtins are made when first used.
    drop : callable
        The builtin that gives a snapshot back: in a private arena ``give_slot``, which may leave it idle for the next
        call, in a shared one ``drop_slot``.
    find, insert, remove : callable
        The builtins of these names, on encoded keys and values.
    held, swap : callable
        The same for objects, see `latchfree.ctrie.kernels.references`; then ``find`` takes a hash.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_address",
        "arena",
        "base",
        "before",
        "hash_mask",
        "keys",
        "kinds",
        "maker",
        "name",
        "owner",
        "references",
        "shared",
        "trie",
        "values",
    )

    clear: Callable[[], Any] = _from_first_use(_on_trie)
    take_now: Callable[[], Any] = _from_first_use(_on_trie)
    drop: Callable[[int], Any] = _from_first_use(_giving)
    find: Callable[[Any], Any] = _from_first_use(_of_kinds)
    insert: Callable[[Any, Any, int, Any], Any] = _from_first_use(_of_kinds)
    remove: Callable[[Any, int, Any], Any] = _from_first_use(_of_kinds)
    held: Callable[[int], tuple[Any, ...]] = _from_first_use(_of_kinds)
    swap: Callable[[int, Any, Any], Any] = _from_first_use(_of_kinds)
    _bytes: Any = _from_first_use(_bytes_of)
    _ints: Any = _from_first_use(lambda store, _: store._bytes.cast("q"))

    def __init__(
        self,
        arena: Arena,
        trie: int,
        keys: Codec[Any],
        values: Codec[Any],
        hash_mask: int,
        *,
        owner: Owner | None = None,
        name: str | None = None,
    ) -> None:
        hash_mask = integer(hash_mask, "hash_mask must be an integer from 0 to 2**64 - 1")
        if not 0 <= hash_mask <= HASH_MASK_ALL:
            raise ValueError(f"hash_mask must be from 0 to 2**64 - 1, got {shown(hash_mask)}")
        if not isinstance(arena, Arena):
            raise TypeError(f"arena must be an Arena, got {type(arena).__name__}")
        self.arena = arena
        self.shared = arena.shared
        self.base = arena.base
        self.trie = trie
        self.keys = keys
        self.values = values
        self.hash_mask = hash_mask
        self.owner = owner
        self.name = name
        self.before: Store | None = None
        self.references = keys is REFERENCES
        self.kinds = "_o" if self.references else "_" + "bw"[keys.word] + "bw"[values.word]
        self.maker = 0 if owner is None else owner.maker
        if trie:
            self.settle(trie, self.maker)

    def settle(self, trie: int, maker: int = 0) -> None:
        """Take the trie at word offset `trie` as the one this store is about, and `maker` as whose alone it is."""
        self.trie = trie
        self.maker = maker
        self._address = self.arena.participant_address(maker)
        self._context = self.context()
        self.__dict__.clear()  # what was made for another trie
        if not self.shared:
            self.arena.idlers.add(self)
        if self.references:
            watch(self.arena)

    def context(self, hold: Taken | None = None, more: bytes = b"") -> bytes:
        """Return a context of calls on this trie, or a snapshot; see `latchfree.ctrie.binding.new_context`."""
        self.arena.interpreter_participant()
        root = 0 if hold is None else hold.root
        return new_context(self.arena.base, self.trie, self.participant_address(hold), root, more)

    def builtin(self, name: str) -> Callable[..., Any]:
        """Return a builtin bound to this trie; see `latchfree.ctrie.binding.builtin`."""
        return builtin(name, self._context)

    def find_below(self, hold: Hold) -> Callable[[Any], Any]:
        """Return the builtin ``find`` on a snapshot."""
        return builtin("find" + self.kinds, self.context(hold))

    @property
    def plain(self) -> bool:
        """Whether keys and values are integers."""
        return self.keys.word and self.values.word

    def call(self, name: str, *more: int) -> Any:
        """Call an entry point on the trie; see `latchfree.ctrie.border`."""
        return getattr(TRIE, name)(self.arena.base, self.trie, self.participant(), *more)

    # A call is on the trie, or on a snapshot of it.

    def participant(self, hold: Taken | None = None) -> int:
        """Return the participant of a call for a single key; see `Arena.interpreter_participant`."""
        return self.arena.interpreter_participant(self.maker if hold is None else hold.taker)

    def participant_address(self, hold: Taken | None = None) -> int:
        """Return the address of the word that holds `participant`; see `Arena.participant_address`."""
        return self._address if hold is None else self.arena.participant_address(hold.taker)

    def lend(self, hold: Taken | None = None) -> Loan:
        """Lend a participant to a call that gives up the interpreter lock; see `Arena.lend`."""
        return self.arena.lend(self.maker if hold is None else hold.taker)

    # a full arena -----------------------------------------------------------------------------------------------

    def insist(self, attempt: Callable[[], Any], full: Callable[[Any], bool], *, anew: bool = False) -> Any:
        """Make attempts until one finds room.

        Parameters
        ----------
        attempt : callable
            The call to make.
        full : callable
            Says of the result of an attempt whether the arena was full; then nothing has changed.
        anew : bool
            Whether the call takes a new generation, of which there may be none left.

        Returns
        -------
        object
            The result of the last attempt.

        Raises
        ------
        ArenaFull
            If making room does not help; nothing changed.
        GenerationsExhausted
            If the arena has no generation left; nothing changed.
        """
        result = attempt()
        if full(result):
            if anew and self.arena.words[H_GENERATION] >= LAST_GENERATION:
                raise GenerationsExhausted(
                    f"all {int(LAST_GENERATION):,} generations of {self.arena!r} have been used, one for each "
                    "snapshot, clear and new structure; nothing changed. Save backups (readonly_snapshot().save(path)) "
                    "and load them into a new arena (Ctrie.load(path, arena=arena, name=name))"
                )
            patience = Patience(self.arena)
            while full(result):
                self.participant()  # there is one now, or the trie is not for this process
                if not patience.make_room():
                    raise self.out_of_room()
                result = attempt()
        return result

    def out_of_room(self, done: int | None = None) -> ArenaFull:
        """Return the error for a full arena, after `done` elements of a call for many keys."""
        size = f"the arena is full ({self.arena.capacity:,} bytes, {self.arena.allocated:,} in use)"
        if done is not None:
            text = f"{size} after {done} elements, which took effect; element {done} and the rest did not"
            return ArenaFull(text, done)
        return ArenaFull(
            f"{size}; nothing changed. Remove keys, close snapshots, or create the Ctrie in a larger arena: "
            "Ctrie(..., arena=Arena.anonymous(capacity))"
        )

    def is_full(self, result: Any) -> bool:
        """Return whether an entry point says that there is no room."""
        return bool(result == _FULL)

    # tries and snapshots ------------------------------------------------------------------------------------------

    def new_trie(self) -> int:
        """Make an empty trie in the arena and return its word offset."""
        arena = self.arena
        made = self.insist(
            lambda: TRIE.create(arena.base, self.hash_mask, arena.interpreter_participant()),
            self.is_full,
            anew=True,
        )
        return int(made)

    @classmethod
    def with_new_trie(cls, arena: Arena, keys: Codec[Any], values: Codec[Any], hash_mask: int) -> Store:
        """Return the store of a new, private trie."""
        store = cls(arena, 0, keys, values, hash_mask)
        store.own_new_trie()
        return store

    def own_new_trie(self) -> None:
        """Make an empty trie, and own it; in a child that a signal handler forks meanwhile, one of the child's own."""
        while True:
            maker = self.arena.identity
            self.settle(self.new_trie(), maker)
            self.owner = new_owner(self.arena, self.trie, maker, objects=self.references)
            if not self.arena.forked_since(maker):
                return

    def unpark(self) -> None:
        """Drop the idle snapshot of the trie, if there is one."""
        if self.trie and self.arena.words[self.trie + _IDLE] and not (self.owner is not None and self.owner.gone):
            with suppress(MadeBeforeFork):
                TRIE.unpark(self.base, self.trie, self.participant())

    def like_this(self) -> Store:
        """Return the store of a new, private trie in an arena of its own, for keys and values of the same kinds."""
        return self.with_new_trie(Arena.anonymous(), self.keys, self.values, self.hash_mask)

    def destroy(self, trie: int, *, maker: int) -> None:
        """Free a trie that `new_trie` has made and nobody else has seen; not in a forked child of the `maker`."""
        destroy = TRIE.destroy
        with suppress(MadeBeforeFork):
            destroy(self.base, trie, self.arena.interpreter_participant(maker), 0)

    def fork(self) -> Store:
        """Return the store of a private trie that goes on from a snapshot taken now."""
        arena, fork = self.arena, TRIE.fork
        while True:
            hold = self.hold()

            def attempt(hold: Hold = hold) -> Any:
                return fork(arena.base, hold.slot, self.participant(hold), self.hash_mask)

            with suppress(MadeBeforeFork):  # a child that a signal handler forks meanwhile takes one of its own
                trie = int(self.insist(attempt, self.is_full, anew=True))
                owner = new_owner(arena, trie, hold.taker, hold, objects=self.references)
                store = Store(arena, trie, self.keys, self.values, self.hash_mask, owner=owner)
                store.participant()
                return store

    def beside(self, owner: Owner) -> Store:
        """Return the store of the private trie of an owner that `fork_now` of this store has made."""
        made = Store.__new__(Store)
        made._context = owner._context
        made.trie, made.maker, made.owner = owner.trie, owner.maker, owner
        made.arena, made.base, made.shared, made._address = self.arena, self.base, self.shared, self._address
        made.keys, made.values, made.kinds, made.references = self.keys, self.values, self.kinds, self.references
        made.hash_mask, made.name, made.before = self.hash_mask, None, None
        return made

    def hold(self) -> Hold:
        """Take a snapshot; in a child that a signal handler forks meanwhile, one of the child's own."""
        while True:
            taker = self.arena.identity
            slot = self.take_now()
            if slot is NotImplemented:
                slot = self.insist(self.take_now, refused, anew=True)
            hold = new_hold(self, slot, taker)
            if not self.arena.forked_since(taker):
                return hold

    # keys and values ----------------------------------------------------------------------------------------------

    def key(self, key: Any) -> Any:
        """Return a key as the builtins take it."""
        return _encoded(self.keys, key, "keys", MAX_KEY_BYTES)

    def value(self, value: Any) -> Any:
        """Return a value as the builtins take it."""
        return _encoded(self.values, value, "values", MAX_VALUE_BYTES)

    def _value_at(self, node: int) -> Any:
        ints = self._ints
        if self.values.word:
            return ints[node + 2]
        start = 8 * (node + 3 if self.keys.word else node + 4 + (ints[node + 3] + 7) // 8)
        return bytes(self._bytes[start : start + ints[node + 2]])

    def _key_at(self, node: int) -> Any:
        if self.keys.word:
            return self._ints[node + 1]
        start = 8 * (node + 4)
        return bytes(self._bytes[start : start + self._ints[node + 3]])

    def _nodes(self, hold: Hold, size: int = _BATCH) -> Iterator[Any]:
        """Yield the offsets of the S-nodes of a snapshot, `size` at a time, in an array that is used again."""
        cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
        nodes = np.zeros(size, np.uint64)
        root = hold.root  # no call of Python between a loan and its use: a signal handler may fork there
        start, following = TRIE.scan_start, TRIE.scan_next
        with self.lend(hold) as me:
            start(self.base, me, root, cursor)
        found = size
        while found == size:
            with self.lend(hold) as me:
                found = following(self.base, me, cursor, nodes)
            yield nodes[:found]

    def batches(self, hold: Hold, size: int = _BATCH) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the encoded keys and values of a snapshot, `size` S-nodes at a time; objects as they are."""
        words = self.arena.words
        for batch in self._nodes(hold, size):
            offsets = [] if self.plain else batch.tolist()
            if self.references:
                held = [self.held(node) for node in offsets]
                hold.touch()
                yield [key for pairs in held for key in pairs[::2]], [value for pairs in held for value in pairs[1::2]]
                continue
            if self.keys.word:
                keys = words[batch + np.uint64(1)].view(np.int64).tolist()
            else:
                keys = [self._key_at(node) for node in offsets]
            if self.values.word:
                values = words[batch + np.uint64(2)].view(np.int64).tolist()
            else:
                values = [self._value_at(node) for node in offsets]
            hold.touch()
            yield keys, values

    def entries(self, hold: Hold) -> Iterator[tuple[Any, Any]]:
        """Yield key and value of every entry of a snapshot."""
        decode_key, decode_value = self.keys.decode, self.values.decode
        for keys, values in self.batches(hold):
            if self.plain or self.references:
                yield from zip(keys, values, strict=True)
            else:
                yield from zip(map(decode_key, keys), map(decode_value, values), strict=True)

    def count(self, hold: Hold) -> int:
        """Return the number of entries of a snapshot."""
        if self.references:
            return self._count_objects(hold)
        cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
        nodes = np.zeros(_BATCH, np.uint64)
        root, count = hold.root, TRIE.scan_count
        with self.lend(hold) as me:
            total: int = count(self.base, me, root, cursor, nodes)
        hold.touch()
        return total

    def _count_objects(self, hold: Hold) -> int:
        """Count them where an S-node may hold several keys of one hash; such a node has no address of a key."""
        total = 0
        for batch in self._nodes(hold):
            several = batch[self.arena.words[batch + HELD_KEY] == 0].tolist()
            total += len(batch) + sum(len(self.held(node)) // 2 - 1 for node in several)
        hold.touch()
        return total


def _encoded(codec: Codec[Any], item: Any, what: str, limit: int) -> Any:
    """Return a key or value as its codec encodes it; the error for a wrong one says which of the two it is."""
    try:
        encoded = codec.encode(item)
        if codec.word:
            return encoded
        encoded = as_bytes(codec, encoded)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} of this Ctrie: {error}") from None
    if len(encoded) > limit:
        raise ValueError(
            f"{what} of this Ctrie may have at most {limit} encoded bytes, {shown(item)} has {len(encoded)}"
        )
    return encoded
