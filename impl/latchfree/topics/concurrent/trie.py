"""`ConcurrentTrie`: the matcher that any number of threads change and match at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from latchfree.arena import Arena
from latchfree.ctrie.holds import Hold
from latchfree.topics.base import parse
from latchfree.topics.columns import text_column, to_lists
from latchfree.topics.concurrent import bulk
from latchfree.topics.concurrent.calls import call
from latchfree.topics.concurrent.collect import TOO_SMALL
from latchfree.topics.concurrent.scratch import Scratch
from latchfree.topics.concurrent.store import DATA, NO_QUEUE, QUEUE, SHARE, TopicStore, payload_of, read_payload
from latchfree.topics.concurrent.subscribers import Subscribers
from latchfree.topics.dialects import Dialect, get_dialect
from latchfree.topics.errors import UnknownSubscription
from latchfree.topics.matcher import Stats, Subscription
from latchfree.topics.pattern import Pattern
from latchfree.topics.rules import SHARE as SHARE_PREFIX
from latchfree.topics.snapshot import Snapshot

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex

_TOO_SMALL: Final = int(TOO_SMALL)
_EVERY_BIT: Final = (1 << 64) - 1


class ConcurrentTrie:
    """A lock-free trie of subscriptions, shared by any number of threads.

    Every call is linearizable: it takes effect at one instant between its call and its return. A match sees the whole
    trie at one instant, however many wildcards it follows; `subscriptions` and what is made of them, too.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    arena : Arena, optional
        Where the nodes live; by default a private arena of 64 GiB of address space, of which only what is used takes
        memory.
    hash_mask : int
        Which bits of the hashes of words count. Fewer force collisions, for tests.

    Raises
    ------
    ArenaFull
        From any call that changes the trie when the arena has no room; nothing changes.

    Notes
    -----
    Subscribers are integers, which live in the trie, or any other hashable objects, which stay referenced as long as
    the matcher lives. The algorithm is described in `latchfree.topics.concurrent`.
    """

    def __init__(
        self, dialect: str | Dialect = "amqp", *, arena: Arena | None = None, hash_mask: int = _EVERY_BIT
    ) -> None:
        self._dialect = get_dialect(dialect)
        self._store = TopicStore(Arena.anonymous() if arena is None else arena, self._dialect, hash_mask)
        self._subscribers = Subscribers()
        self._local = threading.local()
        self._scratches: list[Scratch] = []

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._dialect

    @property
    def arena(self) -> Arena:
        """The arena its nodes live in."""
        return self._store.arena

    # changes --------------------------------------------------------------------------------------------------

    def subscribe(self, pattern: str | bytes, subscriber: Hashable, *, queue: str | None = None) -> Subscription:
        """Add a subscription; see `Matcher.subscribe`."""
        parsed = parse(self._dialect, pattern, queue, None)
        text = _filter_of(parsed)
        kind = SHARE if parsed.group is not None else NO_QUEUE if queue is None else QUEUE
        group = parsed.group if parsed.group is not None else queue
        payload = payload_of(self._subscribers.value(subscriber), kind, group)
        scratch = self._scratch(len(text), len(parsed.words))
        store = self._store
        arguments = store.rules, id(text) + DATA, len(text), id(payload) + DATA, len(payload)
        number = self._insist("add", *arguments, scratch.starts, scratch.digits, scratch.path)
        scratch.subscribes += 1
        return Subscription(number, parsed.text, subscriber, group)

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: Hashable, *, queue: str | None = None
    ) -> list[Subscription]:
        """Add subscriptions of one subscriber, one after another.

        Raises
        ------
        InvalidPattern
            Naming the row; nothing changes.
        """
        texts = list(patterns)
        for row, text in enumerate(texts):
            parse(self._dialect, text, queue, row)
        return [self.subscribe(text, subscriber, queue=queue) for text in texts]

    def subscribe_column(self, patterns: Any, subscribers: Any) -> Any:
        """Add the subscriptions of two columns, without the interpreter lock; returns their numbers as an array.

        Parameters
        ----------
        patterns : pyarrow.StringArray
            Without share names.
        subscribers : array of int64

        Raises
        ------
        InvalidPattern
            Naming the row; nothing changes.
        ArenaFull
            Whose ``done`` says how many took effect.
        """
        return bulk.subscribe(self, self._store, patterns, subscribers)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Take a subscription away; see `Matcher.unsubscribe`."""
        if not isinstance(subscription, Subscription):
            raise self._unknown(subscription)
        parsed = self._dialect.pattern(subscription.pattern)
        text = _filter_of(parsed)
        scratch = self._scratch(len(text), len(parsed.words))
        arguments = self._store.rules, id(text) + DATA, len(text), subscription.number & _EVERY_BIT
        if not self._insist("drop", *arguments, scratch.starts, scratch.digits, scratch.path):
            raise self._unknown(subscription)
        scratch.unsubscribes += 1

    def unsubscribe_column(self, patterns: Any, numbers: Any) -> None:
        """Take the subscriptions with these numbers away, as far as they are there; the kin of `subscribe_column`."""
        bulk.unsubscribe(self, self._store, patterns, numbers)

    def unsubscribe_all(self, subscriber: Hashable) -> list[Subscription]:
        """Take all subscriptions of a subscriber away, one after another, and return them."""
        gone = []
        for subscription in self.subscriptions():
            if subscription.subscriber == subscriber:
                try:
                    self.unsubscribe(subscription)
                except UnknownSubscription:
                    continue  # somebody was faster
                gone.append(subscription)
        return gone

    # matching -------------------------------------------------------------------------------------------------

    def match(self, topic: str | bytes) -> frozenset[Hashable]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        scratch = self._find(topic, values=True)
        found = frozenset(self._subscribers.objects(scratch.values))
        scratch.matches += 1
        scratch.matched += len(found)
        return found

    def matching(self, topic: str | bytes) -> list[Subscription]:
        """Return the subscriptions that match a topic, in any order."""
        base, me = self.arena.base, self.arena.participant()
        call("hold_still")(base, me)
        try:
            return [self._read(node) for node in self._find(topic, values=False).values]
        finally:
            call("let_go")(base, me)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        return bool(self._find(topic, values=True, most=1).values)

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array, without the interpreter lock.

        See `Matcher.match_many`.
        """
        column = text_column(topics)
        scratch = self._scratch(0, 0)
        offsets, values = bulk.match(self, self._store, scratch, column)
        scratch.matches += len(column)
        scratch.matched += len(values)
        if self._subscribers.all_inline(values):
            return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
        objects = self._subscribers.objects(values.tolist())
        return to_lists([objects[start:end] for start, end in pairwise(offsets.tolist())])

    # the whole ------------------------------------------------------------------------------------------------

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription]:
        """Return the subscriptions of this instant, or those whose patterns have the words of `prefix` first."""
        words = self._dialect.split(prefix or "")
        hold = self._store.hold()
        held = [self._read(node) for node in self._store.nodes_below(hold).tolist()]
        if not words:
            return iter(held)
        return iter([each for each in held if self._dialect.pattern(each.pattern).starts_with(words)])

    def snapshot(self) -> Snapshot:
        """Return what is subscribed at this instant; taking it stops nobody."""
        return Snapshot(self._dialect, tuple(self.subscriptions()))

    def freeze(self) -> MaskIndex:
        """Return an unchanging index of what is subscribed now, for bulk matching."""
        return self.snapshot().freeze()

    def stats(self) -> Stats:
        """Return what the matcher holds and did; the calls of other threads may be counted late."""
        held = list(self.subscriptions())
        return Stats(
            engine=type(self).__name__,
            dialect=self._dialect.name,
            subscriptions=len(held),
            patterns=len({each.pattern for each in held}),
            subscribers=len({each.subscriber for each in held}),
            subscribes=sum(each.subscribes for each in self._scratches),
            unsubscribes=sum(each.unsubscribes for each in self._scratches),
            matches=sum(each.matches for each in self._scratches),
            matched=sum(each.matched for each in self._scratches),
            details={"bytes": float(self.arena.allocated)},
        )

    def __len__(self) -> int:
        hold: Hold = self._store.hold()
        return len(self._store.nodes_below(hold))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._dialect.name} with {len(self):,} subscriptions>"

    # parts ----------------------------------------------------------------------------------------------------

    def _scratch(self, length: int, words: int) -> Scratch:
        """The calling thread's working memory, with room for a text."""
        try:
            scratch: Scratch = self._local.scratch
        except AttributeError:
            scratch = self._local.scratch = Scratch()
            self._scratches.append(scratch)
        scratch.make_room(length, words)
        return scratch

    def _insist(self, name: str, *arguments: Any) -> int:
        store = self._store
        entry: Callable[..., int] = call(name)
        me = store.arena.participant()
        result = entry(store.arena.base, store.trie, me, *arguments)
        if store.is_full(result):
            result = store.insist(lambda: entry(store.arena.base, store.trie, me, *arguments), store.is_full)
        return result

    def _find(self, topic: str | bytes, *, values: bool, most: int = _EVERY_BIT - 1) -> Scratch:
        """Subscribers or S-nodes for a topic, as the list `values` of the scratch; for the latter be pinned."""
        self._dialect.topic(topic)
        text = topic.encode() if isinstance(topic, str) else topic
        scratch = self._scratch(len(text), 0)
        store = self._store
        entry = call("find")
        scratch.most(most)
        while True:
            count = entry(
                store.arena.base, store.trie, 0, store.arena.participant(), store.rules, id(text) + DATA, len(text),
                values, scratch.starts, scratch.digits, scratch.frames, scratch.noted, scratch.found, scratch.counts,
            )  # fmt: skip
            if count != _TOO_SMALL:
                scratch.values = scratch.found[:count].view(np.int64).tolist()
                return scratch
            scratch.grow()

    def _read(self, node: int) -> Subscription:
        """The subscription in an S-node that cannot go away."""
        number, text, payload = self._store.read(node)
        value, kind, queue = read_payload(payload)
        pattern = text.decode()
        if kind == SHARE:
            pattern = f"{SHARE_PREFIX}{queue}/{pattern}"
        return Subscription(number, pattern, self._subscribers.object(value), queue)

    def _unknown(self, subscription: object) -> UnknownSubscription:
        return UnknownSubscription(
            f"{subscription!r} is no subscription of this matcher, or is unsubscribed already; "
            "pass what subscribe returned, once"
        )


def _filter_of(pattern: Pattern) -> bytes:
    """The pattern without its share name."""
    text = pattern.text
    return (text if pattern.group is None else text[len(SHARE_PREFIX) + len(pattern.group) + 1 :]).encode()
