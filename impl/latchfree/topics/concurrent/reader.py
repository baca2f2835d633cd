"""`Reader`: the calls that match, for a concurrent topic trie and for its snapshots."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Generic

from latchfree.ctrie.holds import Taken
from latchfree.extras import optional
from latchfree.topics.columns import text_column, to_lists
from latchfree.topics.concurrent import bulk
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.concurrent.kernels.single import DONE, NOBODY
from latchfree.topics.concurrent.payload import SHARE, Payload, copies
from latchfree.topics.concurrent.scratch import Scratch, Scratches
from latchfree.topics.concurrent.store import DATA, TopicStore
from latchfree.topics.concurrent.subscribers import Subscribers
from latchfree.topics.dialects import Dialect, exact_bytes
from latchfree.topics.subscription import S, Subscription

if TYPE_CHECKING:
    from collections.abc import Callable

pa: Any = optional("pyarrow", "topics")

_EVERYTHING: Final = (1 << 64) - 2


class Reader(Generic[S]):
    """Match topics in a trie as it is, or in a snapshot of the trie.

    No call runs code of subscribers, or of anybody, while it is pinned as a participant that others use, too.

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

    def _held(self) -> Taken | None:
        """Return a reference that keeps the snapshot to read alive; None for the trie as it is now."""
        return None

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        hold = self._held()
        text = self._text_of(topic)
        subscribers = self._subscribers
        scratch = self._scratches.lend()
        try:
            objects = None if subscribers.in_nodes else subscribers.objects(self._words_of(scratch, text, hold))
            if objects is None:
                objects = [each.subscriber for each in self._matching(scratch, text, hold)]
            found = frozenset(objects)
            scratch.matches += 1
            scratch.matched += len(found)
        finally:
            self._scratches.take_back(scratch)
        return found

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order."""
        hold = self._held()
        text = self._text_of(topic)
        with self._scratches.lent() as scratch:
            return self._matching(scratch, text, hold)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        hold = self._held()
        text = self._text_of(topic)
        with self._scratches.lent() as scratch:
            return bool(self._words_of(scratch, text, hold, most=1))

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array, without the interpreter lock.

        See `Matcher.match_many`.
        """
        # One call to the end: Arrow gives up the interpreter lock, and does not survive the interpreter's end then.
        with self._store.arena.call(), self._scratches.lent() as scratch:
            column = text_column(topics)
            hold = self._held()
            offsets, values = bulk.match(self._store, scratch, column, hold)
            if self._subscribers.all_inline(values):
                lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
                matched = len(values)
            else:
                objects = self._subscribers.objects(values.tolist())
                if objects is None:
                    with self._subscribers.keep():
                        rows = bulk.match_nodes(self._store, scratch, column, hold, self._subscribers.object)
                else:
                    rows = [objects[start:end] for start, end in pairwise(offsets.tolist())]
                rows = [list(dict.fromkeys(row)) for row in rows]
                lists = to_lists(rows)
                matched = sum(map(len, rows))
            scratch.matches += len(column)
            scratch.matched += matched
        return lists

    # parts ----------------------------------------------------------------------------------------------------

    def _text_of(self, topic: str | bytes) -> bytes:
        """Return a topic in UTF-8, checked."""
        self._store.dialect.topic(topic)
        return topic.encode() if type(topic) is str else exact_bytes(topic)

    def _words_of(self, scratch: Scratch, text: bytes, hold: Taken | None, *, most: int = _EVERYTHING) -> list[int]:
        """Match a valid topic; return the words for the subscribers."""
        store = self._store
        scratch.make_room(len(text))
        scratch.stop_after(most)
        scratch.places[1] = len(text)
        root = 0 if hold is None else hold.root
        who = store.participant_address(hold)
        entry: Callable[..., int] = TOPICS.match_text
        while True:
            outcome = entry(
                store.arena.base, store.trie, root, who, store.checked, id(text) + DATA,
                scratch.places, scratch.offsets, scratch.row, scratch.buffers,
            )  # fmt: skip
            if outcome == DONE:
                return scratch.found()
            if outcome == NOBODY:
                store.participant(hold)  # there is one now, or the trie is not for this process
            else:
                scratch.grow()
                scratch.stop_after(most)

    def _matching(self, scratch: Scratch, text: bytes, hold: Taken | None) -> list[Subscription[S]]:
        """Match a valid topic; return the subscriptions, whose subscribers are kept meanwhile."""
        with self._subscribers.keep():
            return [self._subscription(*found) for found in self._read_matching(scratch, text, hold)]

    def _read_matching(self, scratch: Scratch, text: bytes, hold: Taken | None) -> list[tuple[int, str, Payload]]:
        """Match a valid topic, and read a copy of each S-node found."""
        store = self._store
        scratch.make_room(len(text))
        scratch.places[1] = len(text)
        root = 0 if hold is None else hold.root
        base, address, entry = store.arena.base, id(text) + DATA, TOPICS.match_rows
        while True:
            scratch.stop_after()
            with store.lend(hold) as me:  # no call of Python between this and the use: a handler may fork there
                done = entry(
                    base, store.trie, root, me, store.checked, 0, address, scratch.places, 0, scratch.offsets,
                    scratch.row, scratch.buffers,
                )  # fmt: skip
            if done:
                count, end = int(scratch.offsets[1]), int(scratch.counts[0])
                return [subscription for _, subscription in copies(scratch.row, 2 * count, end)]
            scratch.grow()

    def _subscription(self, number: int, pattern: str, payload: Payload) -> Subscription[S]:
        """Return the subscription that stood in an S-node."""
        if payload.kind == SHARE:
            pattern = f"{self.dialect.share_prefix}{payload.queue}{self.dialect.separator}{pattern}"
        subscriber = self._subscribers.object(payload.word, payload.text)
        return Subscription(number, pattern, subscriber, payload.queue)
