"""One topic trie in an arena, and how its subscriptions are stored.

An S-node is that of a Ctrie from bytes to bytes: its key is the filter (the pattern without a share name), its hash the
subscription's name, and its value the *payload*: subscriber, a word that says what the name of the queue group is, and
that name.
"""

from __future__ import annotations

import secrets
import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.codecs import codec_for
from latchfree.ctrie.holds import Hold, Lineage
from latchfree.ctrie.store import Store
from latchfree.errors import ArenaFull
from latchfree.topics.concurrent import digits
from latchfree.topics.concurrent.calls import call
from latchfree.topics.dialects import Dialect
from latchfree.topics.rules import NATS_FORBIDDEN

#: Where the bytes of a bytes object are.
DATA: Final = bytes.__basicsize__ - 1

#: What the queue group of a subscription is.
NO_QUEUE, QUEUE, SHARE = range(3)

_PAYLOAD: Final = struct.Struct("=qQ")
_FORBIDDEN: Final = {"amqp": "", "nats": NATS_FORBIDDEN, "mqtt": "+#\0"}
_LONGEST_QUEUE: Final = 65_535
_WORD_BITS: Final = (1 << 63) - 1


def rules_of(dialect: Dialect) -> int:
    """The rules of a dialect as compiled code takes them."""
    flags = int(digits.ANYWHERE) if dialect.many_anywhere else 0
    flags |= int(digits.LEAST) if dialect.least else 0
    flags |= int(digits.HIDES) if dialect.hides_dollar else 0
    flags |= int(digits.NO_EMPTY_WORD) if dialect.name == "nats" else 0
    flags |= int(digits.NO_EMPTY_TEXT) if dialect.name == "mqtt" else 0
    flags |= dialect.longest << int(digits.LONGEST_SHIFT)
    return flags | ord(dialect.separator) | ord(dialect.one) << 8 | ord(dialect.many) << 16


def forbidden_in(dialect: Dialect) -> int:
    """The bytes that no topic of a dialect has, a bit each."""
    return sum(1 << ord(character) for character in _FORBIDDEN[dialect.name])


def payload_of(value: int, kind: int, queue: str | None) -> bytes:
    """The payload of a subscription.

    Raises
    ------
    ValueError
        If the name of its queue group is longer than 65,535 bytes.
    """
    name = (queue or "").encode()
    if len(name) > _LONGEST_QUEUE:
        raise ValueError(f"the name of a queue group has {len(name):,} bytes, and {_LONGEST_QUEUE:,} are allowed")
    return _PAYLOAD.pack(value, kind) + name


def read_payload(payload: bytes) -> tuple[int, int, str | None]:
    """Subscriber, kind of queue group and its name."""
    value, kind = _PAYLOAD.unpack_from(payload)
    return value, kind, payload[_PAYLOAD.size :].decode() if kind else None


class TopicStore(Store):
    """The trie; takes patterns and topics that are valid, as bytes.

    Parameters
    ----------
    arena : Arena
    dialect : Dialect
    hash_mask : int
        Which bits of the hashes of words count; fewer force collisions, for tests.
    """

    __slots__ = ("dialect", "forbidden", "rules")

    def __init__(self, arena: Arena, dialect: Dialect, hash_mask: int) -> None:
        blob = codec_for(bytes)
        super().__init__(arena, 0, blob, blob, hash_mask)
        self.dialect = dialect
        self.rules = rules_of(dialect)
        self.forbidden = forbidden_in(dialect)
        mask = hash_mask & _WORD_BITS
        # Numbers do not start at 0, so that the handle of another matcher is not taken for one of this.
        first = secrets.randbits(40) << 20
        create = call("create")
        made = self.insist(lambda: create(arena.base, mask, arena.participant(), first), self.is_full)
        self.settle(int(made))
        self.owner = Lineage(arena, self.trie)

    def out_of_room(self, done: int | None = None) -> ArenaFull:
        """The error for an arena that is full, after `done` elements of a bulk call."""
        error = super().out_of_room(done)
        if done is not None:
            return error
        return ArenaFull(
            str(error).split(";")[0] + "; nothing changed. Unsubscribe, close snapshots, or create the matcher in a "
            "larger arena: ConcurrentTrie(..., arena=Arena.anonymous(capacity))"
        )

    def read(self, node: int) -> tuple[int, bytes, bytes]:
        """Number, filter and payload of an S-node that cannot go away."""
        return self._ints[node + 1] >> 1, self._key_at(node), self._value_at(node)

    def nodes_below(self, hold: Hold) -> NDArray[np.uint64]:
        """All S-nodes of a snapshot."""
        size = 1 << 10
        scan = call("scan")
        while True:
            stack, found = np.empty(size, np.uint64), np.empty(size, np.uint64)
            count = int(scan(self.arena.base, hold.root, self.arena.participant(), stack, found))
            if count <= size:
                return found[:count]
            size *= 4
