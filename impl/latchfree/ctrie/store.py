"""`Store`: one trie in one arena with its codecs, the part that Ctrie and Snapshot share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie import scan
from latchfree.ctrie.builtins import BYTES_DATA, new_context
from latchfree.ctrie.calls import Calls, calls
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES, Codec, shown

_BATCH = 1024


class Store:
    """Encodes, decodes and locates; holds no policy.

    Attributes
    ----------
    arena : Arena
    trie : int
        Word offset of the trie's root word.
    calls : Calls
        Compiled entry points for this kind of keys and values.
    """

    __slots__ = ("_bytes", "_ints", "arena", "base", "calls", "hash_mask", "keys", "trie", "values")

    def __init__(self, arena: Arena, trie: int, keys: Codec, values: Codec, hash_mask: int) -> None:
        self.arena = arena
        self.base = np.uint64(arena.base)
        self.trie = trie
        self.keys = keys
        self.values = values
        self.hash_mask = hash_mask
        self.calls: Calls = calls(keys.word, values.word)
        self._bytes = memoryview(arena.words.data).cast("B")
        self._ints = self._bytes.cast("q")

    def context(self, root: int = 0) -> NDArray[np.uint64]:
        """The context of single calls on this trie, or on the frozen tree below `root`."""
        return new_context(self.arena.base, self.trie, self.arena.interpreter_participant(), root)

    def key(self, key: Any) -> Any:
        """A key as the entry points take it. The caller must hold on to a blob until the call returns."""
        return _argument(self.keys, key, "keys", MAX_KEY_BYTES)

    def value(self, value: Any) -> Any:
        """A value as the entry points take it; see `key`."""
        return _argument(self.values, value, "values", MAX_VALUE_BYTES)

    def value_at(self, node: int) -> Any:
        """The value in an S-node."""
        ints = self._ints
        if self.values.word:
            return ints[node + 2]
        start = 8 * (node + 3 if self.keys.word else node + 4 + (ints[node + 3] + 7) // 8)
        return self.values.decode(bytes(self._bytes[start : start + ints[node + 2]]))

    def key_at(self, node: int) -> Any:
        """The key in an S-node."""
        if self.keys.word:
            return self._ints[node + 1]
        start = 8 * (node + 4)
        return self.keys.decode(bytes(self._bytes[start : start + self._ints[node + 3]]))

    def entries(self, root: int) -> Iterator[tuple[Any, Any]]:
        """Key and value of every entry below a frozen root I-node."""
        cursor = np.zeros(scan.CURSOR_WORDS, np.uint64)
        nodes = np.zeros(_BATCH, np.uint64)
        scan.start(self.base, np.uint64(root), cursor)
        plain = self.keys.word and self.values.word
        while True:
            found = scan.advance(self.base, cursor, nodes)
            batch = nodes[:found]
            if plain:
                words = self.arena.words
                keys = words[batch + np.uint64(1)].view(np.int64).tolist()
                yield from zip(keys, words[batch + np.uint64(2)].view(np.int64).tolist(), strict=True)
            else:
                for node in batch.tolist():
                    yield self.key_at(node), self.value_at(node)
            if found < _BATCH:
                return


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
    if type(encoded) is not bytes:
        encoded = bytes(encoded)
    return Blob((id(encoded) + BYTES_DATA, len(encoded)), encoded)


class Blob(tuple[int, int]):
    """Address and length of a bytes object, which it keeps alive."""

    owner: bytes

    def __new__(cls, where: tuple[int, int], owner: bytes) -> Blob:
        self = super().__new__(cls, where)
        self.owner = owner
        return self
