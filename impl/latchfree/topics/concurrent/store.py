"""`TopicStore`: one topic trie in an arena, and the form of its subscriptions.

An S-node is that of a Ctrie from bytes to bytes: its key is the filter (the pattern without a share name), its hash the
subscription's name, and its value the *payload* (`latchfree.topics.concurrent.payload`).
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.codecs import codec_for
from latchfree.ctrie.holds import Taken
from latchfree.ctrie.store import Store
from latchfree.errors import ArenaFull
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.concurrent.packed_dialect import grammar_of
from latchfree.topics.concurrent.payload import Payload
from latchfree.topics.dialects import Dialect

#: Where the content of a bytes object starts, from its address.
DATA: Final = bytes.__basicsize__ - 1

_WORD_BITS: Final = (1 << 63) - 1


class TopicStore(Store):
    """One topic trie; the callers have checked patterns and topics.

    Parameters
    ----------
    arena : Arena
    trie : int
        Word offset of the trie's root word, 0 while there is none.
    dialect : Dialect
    hash_mask : int
        The bits of a word's hash that count; fewer bits force collisions, for tests.
    name : str, optional
        The name of the trie in the arena.
    """

    __slots__ = ("checked", "dialect", "grammar")

    def __init__(self, arena: Arena, trie: int, dialect: Dialect, hash_mask: int, *, name: str | None = None) -> None:
        blob = codec_for(bytes)
        super().__init__(arena, trie, blob, blob, hash_mask, name=name)
        self.hash_mask &= _WORD_BITS
        self.dialect = dialect
        self.grammar = grammar_of(dialect)
        self.checked = self.grammar._replace(forbidden=0)  # for topics that Python has checked

    @classmethod
    def private(cls, arena: Arena, dialect: Dialect, hash_mask: int) -> TopicStore:
        """Return an empty trie that only this process can see."""
        store = cls(arena, 0, dialect, hash_mask)
        store.own_new_trie()
        return store

    def new_trie(self) -> int:
        """Make an empty trie in the arena."""
        # No subscription has number 0. Numbers start elsewhere in each matcher, so that handles of another are refused.
        first = (1 + int.from_bytes(os.urandom(5), "little")) << 20
        arena, create = self.arena, TOPICS.create

        def attempt() -> Any:
            with arena.lend() as me:
                return create(arena.base, self.hash_mask, me, first)

        return int(self.insist(attempt, self.is_full, anew=True))

    def out_of_room(self, done: int | None = None) -> ArenaFull:
        """Return the error for a full arena, after `done` elements of a bulk call."""
        error = super().out_of_room(done)
        if done is not None:
            return error
        return ArenaFull(
            str(error).split(";")[0] + "; nothing changed. Unsubscribe, close snapshots, or create the matcher in a "
            "larger arena: ConcurrentTrie(..., arena=Arena.anonymous(capacity))"
        )

    def read(self, node: int) -> tuple[int, str, Payload]:
        """Return number, filter and payload of an S-node, which a pin or a snapshot keeps allocated."""
        return self._ints[node + 1] >> 1, self._key_at(node).decode(), Payload.unpack(self._value_at(node))

    @property
    def words(self) -> Any:
        """The words of the arena."""
        return self._ints

    def nodes_below(self, hold: Taken) -> NDArray[np.uint64]:
        """Return all S-nodes of a snapshot."""
        size, root = 1 << 10, hold.root
        while True:
            scan, stack, found = TOPICS.scan, np.empty(size, np.uint64), np.empty(size, np.uint64)
            with self.lend(hold) as me:
                count = scan(self.arena.base, root, me, stack, found)
            if count <= size:
                return found[:count]
            size *= 4

    def nodes_near(self, hold: Taken, pattern: bytes) -> NDArray[np.uint64]:
        """Return the S-nodes of a snapshot whose patterns may overlap with a pattern, and perhaps others."""
        size, root, text, count = 1 << 8, hold.root, id(pattern) + DATA, len(pattern)
        starts, digits = np.empty(count + 2, np.uint64), np.empty(count + 2, np.uint64)
        while True:
            near, frames, found = TOPICS.near, np.empty(3 * size, np.uint64), np.empty(size, np.uint64)
            with self.lend(hold) as me:
                base, rules, mask = self.arena.base, self.grammar.rules, self.hash_mask
                number = near(base, root, me, rules, mask, text, count, starts, digits, frames, found)
            if number <= size:
                return found[:number]
            size *= 4
