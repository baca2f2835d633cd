"""`Reader`: the calls that match, for a concurrent topic trie and for its snapshots."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar

from latchfree.ctrie.holds import Hold
from latchfree.extras import optional
from latchfree.topics.columns import text_column, to_lists
from latchfree.topics.concurrent import bulk
from latchfree.topics.concurrent.entry_points import call
from latchfree.topics.concurrent.kernels.collect import TOO_SMALL
from latchfree.topics.concurrent.payload import SHARE
from latchfree.topics.concurrent.scratch import Scratch, Scratches
from latchfree.topics.concurrent.store import DATA, TopicStore
from latchfree.topics.concurrent.subscribers import Subscribers
from latchfree.topics.dialects import Dialect
from latchfree.topics.rules import SHARE as SHARE_PREFIX
from latchfree.topics.subscription import S, Subscription

pa: Any = optional("pyarrow", "topics")

T = TypeVar("T")

_TOO_SMALL: Final = int(TOO_SMALL)
_EVERYTHING: Final = (1 << 64) - 2


class Reader(Generic[S]):
    """Match topics in a trie as it is, or in a snapshot of the trie.

    Parameters
    ----------
    store : TopicStore
    subscribers : Subscribers
    scratches : Scratches
    """

    def __init__(self, store: TopicStore, subscribers: Subscribers, scratches: Scratches) -> None:
        self._store = store
        self._subscribers = subscribers
        self._scratches = scratches

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._store.dialect

    def _held(self) -> Hold | None:
        """Return a reference that keeps the snapshot to read alive; None for the trie as it is now."""
        return None

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        hold = self._held()
        self._store.dialect.topic(topic)
        scratch = self._find(topic, hold, values=True)
        objects = self._subscribers.objects(scratch.values)
        if objects is None:
            objects = self._read_found(topic, hold, self._subscriber)
        found = frozenset(objects)
        scratch.matches += 1
        scratch.matched += len(found)
        return found

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order."""
        hold = self._held()
        self._store.dialect.topic(topic)
        return self._read_found(topic, hold, self._subscription)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        hold = self._held()
        self._store.dialect.topic(topic)
        return bool(self._find(topic, hold, values=True, most=1).values)

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array, without the interpreter lock.

        See `Matcher.match_many`.
        """
        column = text_column(topics)
        hold = self._held()
        root = 0 if hold is None else hold.root
        scratch = self._scratches.mine(0, 0)
        offsets, values = bulk.match(self._store, scratch, column, root)
        scratch.matches += len(column)
        scratch.matched += len(values)
        if self._subscribers.all_inline(values):
            return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
        objects = self._subscribers.objects(values.tolist())
        if objects is None:
            return to_lists(bulk.match_nodes(self._store, scratch, column, root, self._subscriber))
        return to_lists([objects[start:end] for start, end in pairwise(offsets.tolist())])

    # parts ----------------------------------------------------------------------------------------------------

    def _find(self, topic: str | bytes, hold: Hold | None, *, values: bool, most: int = _EVERYTHING) -> Scratch:
        """Match a valid topic; return the scratch whose ``values`` are the subscribers, or the S-nodes.

        Be pinned to ask for S-nodes (`values` False).
        """
        store = self._store
        text = topic.encode() if isinstance(topic, str) else topic
        scratch = self._scratches.mine(len(text), 0)
        entry = call("match_rows")
        root = 0 if hold is None else hold.root
        scratch.stop_after(most)
        scratch.places[1] = len(text)
        while not entry(
            store.arena.base, store.trie, root, store.arena.participant(), store.checked, values, id(text) + DATA,
            scratch.places, 0, scratch.offsets, scratch.row, scratch.buffers,
        ):  # fmt: skip
            assert int(scratch.counts[0]) == _TOO_SMALL, "a topic that was valid is not"
            scratch.grow()
            scratch.stop_after(most)
        scratch.take()
        return scratch

    def _read_found(self, topic: str | bytes, hold: Hold | None, read: Callable[[int], T]) -> list[T]:
        """Match a valid topic, and read each S-node found while the pin keeps it allocated."""
        arena = self._store.arena
        base, me = arena.base, arena.participant()
        call("pin")(base, me)
        try:
            return [read(node) for node in self._find(topic, hold, values=False).values]
        finally:
            call("unpin")(base, me)

    def _subscription(self, node: int) -> Subscription[S]:
        """Return the subscription in an S-node, which a pin or a snapshot keeps allocated."""
        number, pattern, payload = self._store.read(node)
        if payload.kind == SHARE:
            pattern = f"{SHARE_PREFIX}{payload.queue}/{pattern}"
        subscriber = self._subscribers.object(payload.word, payload.text)
        return Subscription(number, pattern, subscriber, payload.queue)

    def _subscriber(self, node: int) -> Any:
        """Return the subscriber in an S-node, which a pin or a snapshot keeps allocated."""
        _, _, payload = self._store.read(node)
        return self._subscribers.object(payload.word, payload.text)
