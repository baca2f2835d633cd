"""`Store`: one trie in one arena with its codecs, the part that Ctrie and Snapshot share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.binding import Raw, builtin, new_context
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES, Codec, shown
from latchfree.ctrie.holds import Hold, Lineage
from latchfree.ctrie.kernels import loops, scan
from latchfree.ctrie.kernels.entrypoints import call
from latchfree.ctrie.kernels.insert import FULL
from latchfree.errors import ArenaFull

#: Every bit of the hash places a key.
HASH_MASK_ALL = (1 << 64) - 1

_BATCH = 1024
_FULL = int(FULL)
#: Times a call that finds the arena full collects garbage before it gives up, and how many of those are enough for
#: what was retired just before; then it also merges what is free.
_PATIENCE = 5
_GRACE = 3


def refused(result: Any) -> bool:
    """Whether a builtin says that it did nothing."""
    return result is NotImplemented


class Store:
    """Encodes, decodes and locates; holds no policy.

    Attributes
    ----------
    arena : Arena
    trie : int
        Word offset of the trie's root word.
    owner : Lineage or None
        What frees the trie in the end, if it is this process's own.
    context : ndarray
        The context of single calls on the trie.
    freeze_now, clear, drop : callable
        The builtins of these names.
    raw : Raw
        The builtins "find", "insert" and "remove", on encoded keys and values.
    """

    __slots__ = (
        "__weakref__",
        "_bytes",
        "_ints",
        "_kinds",
        "arena",
        "base",
        "clear",
        "context",
        "drop",
        "freeze_now",
        "hash_mask",
        "keys",
        "name",
        "owner",
        "raw",
        "shared",
        "trie",
        "values",
    )

    def __init__(
        self,
        arena: Arena,
        trie: int,
        keys: Codec,
        values: Codec,
        hash_mask: int,
        *,
        owner: Lineage | None = None,
        name: str | None = None,
    ) -> None:
        hash_mask = operator.index(hash_mask)
        if not 0 <= hash_mask <= HASH_MASK_ALL:
            raise ValueError(f"hash_mask must be from 0 to 2**64 - 1, got {hash_mask}")
        self.arena = arena
        self.shared = arena.shared
        self.base = np.uint64(arena.base)
        self.trie = trie
        self.keys = keys
        self.values = values
        self.hash_mask = hash_mask
        self.owner = owner
        self.name = name
        self._kinds = "_" + "bw"[keys.word] + "bw"[values.word]
        if trie:
            self.settle(trie)
        self._bytes = memoryview(arena.words.data).cast("B")
        self._ints = self._bytes.cast("q")

    def settle(self, trie: int) -> None:
        """Take `trie` as the trie this is about."""
        self.trie = trie
        self.context = self.new_context()
        self.freeze_now = builtin("freeze", self.context)
        self.clear = builtin("clear", self.context)
        self.drop = builtin("drop", self.context)
        self.raw = Raw(self.context, self._kinds)

    @property
    def plain(self) -> bool:
        """Whether keys and values are integers."""
        return self.keys.word and self.values.word

    def new_context(self, root: int = 0) -> NDArray[np.uint64]:
        """The context of single calls on this trie, or on the frozen tree below `root`."""
        self.arena.interpreter_participant()
        return new_context(self.arena.base, self.trie, self.arena.participant_address, root)

    def raw_on(self, root: int) -> Raw:
        """The builtins of this kind of keys and values on a frozen tree."""
        return Raw(self.new_context(root), self._kinds)

    def call(self, name: str, *more: int) -> Any:
        """Call an entry point on the trie; see `latchfree.ctrie.kernels.entrypoints.call`."""
        return call(name)(self.arena.base, self.trie, self.arena.interpreter_participant(), *more)

    def insist(self, attempt: Callable[[], Any], full: Callable[[Any], bool]) -> Any:
        """The result of `attempt`, tried again after collecting garbage while it says that the arena is full.

        Raises
        ------
        ArenaFull
            If it says so to the end; nothing changed.
        """
        result = attempt()
        for turn in range(_PATIENCE):
            if not full(result):
                return result
            self.arena.collect()
            if turn >= _GRACE:
                self.arena.merge()
            result = attempt()
        if full(result):
            raise self.out_of_room()
        return result

    def out_of_room(self, done: int | None = None) -> ArenaFull:
        """The error for an arena that is full, after `done` elements of a bulk call."""
        size = f"the arena is full ({self.arena.capacity:,} bytes, {self.arena.allocated:,} in use)"
        if done is not None:
            text = f"{size} after {done} elements, which took effect; element {done} and the rest did not"
            return ArenaFull(text, done)
        return ArenaFull(
            f"{size}; nothing changed. Remove keys, close snapshots, or create the Ctrie in a larger arena: "
            "Ctrie(..., arena=Arena.anonymous(capacity))"
        )

    def is_full(self, result: Any) -> bool:
        """Whether an entry point says that there is no room."""
        return bool(result == _FULL)

    def new_trie(self) -> int:
        """Make an empty trie in the arena."""
        arena = self.arena
        made = self.insist(
            lambda: call("create")(arena.base, self.hash_mask, arena.interpreter_participant()), self.is_full
        )
        return int(made)

    def fork(self) -> Store:
        """A trie of its own that goes on from a snapshot taken now."""
        arena = self.arena
        _, hold = self.freeze()

        def attempt() -> Any:
            return call("fork")(arena.base, hold.slot, arena.interpreter_participant(), self.hash_mask)

        trie = int(self.insist(attempt, self.is_full))
        owner = Lineage(arena, trie, hold)
        return Store(arena, trie, self.keys, self.values, self.hash_mask, owner=owner)

    def hold(self) -> Hold:
        """Take a snapshot."""
        slot = self.freeze_now()
        if slot is NotImplemented:
            slot = self.insist(self.freeze_now, refused)
        return Hold(self, slot)

    def freeze(self) -> tuple[int, Hold]:
        """Take a snapshot: its root I-node, and what keeps it readable."""
        hold = self.hold()
        return hold.root, hold

    def key(self, key: Any) -> Any:
        """A key as the builtins take it."""
        return _argument(self.keys, key, "keys", MAX_KEY_BYTES)

    def value(self, value: Any) -> Any:
        """A value as the builtins take it."""
        return _argument(self.values, value, "values", MAX_VALUE_BYTES)

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

    def batches(self, root: int, hold: Hold) -> Iterator[tuple[list[Any], list[Any]]]:
        """Encoded keys and values of all entries below a frozen root I-node, which `hold` keeps readable."""
        cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
        nodes = np.zeros(_BATCH, np.uint64)
        words = self.arena.words
        loops.scan_start(self.base, np.uint64(self.arena.participant()), np.uint64(root), cursor)
        found = _BATCH
        while found == _BATCH:
            found = loops.scan_next(self.base, np.uint64(self.arena.participant()), cursor, nodes)
            batch = nodes[:found]
            offsets = [] if self.plain else batch.tolist()
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

    def entries(self, root: int, hold: Hold) -> Iterator[tuple[Any, Any]]:
        """Key and value of every entry below a frozen root I-node."""
        decode_key, decode_value = self.keys.decode, self.values.decode
        for keys, values in self.batches(root, hold):
            if self.plain:
                yield from zip(keys, values, strict=True)
            else:
                yield from zip(map(decode_key, keys), map(decode_value, values), strict=True)

    def count(self, root: int, hold: Hold) -> int:
        """Number of entries below a frozen root I-node."""
        cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
        nodes = np.zeros(_BATCH, np.uint64)
        total = loops.scan_count(self.base, np.uint64(self.arena.participant()), np.uint64(root), cursor, nodes)
        hold.touch()
        return int(total)


def _argument(codec: Codec, item: Any, what: str, limit: int) -> Any:
    try:
        encoded = codec.encode(item)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} of this Ctrie: {error}") from None
    if codec.word:
        return encoded
    if len(encoded) > limit:
        raise ValueError(
            f"{what} of this Ctrie may have at most {limit} encoded bytes, {shown(item)} has {len(encoded)}"
        )
    return encoded if type(encoded) is bytes else bytes(encoded)
