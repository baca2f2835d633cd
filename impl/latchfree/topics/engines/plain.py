"""`PlainMatcher`: the common part of the engines in plain Python: handles, locking, counting, bulk calls.

An engine adds a subscription of a parsed pattern, drops a subscription, and finds the subscriptions that match the
words of a topic. The base calls the engine under the lock, only with valid texts and known handles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic

from latchfree.arena.forking import new_lock
from latchfree.arguments import flag, hashable, many
from latchfree.topics.columns import rows_of, to_lists
from latchfree.topics.dialects import Dialect, get_dialect, parse_pattern
from latchfree.topics.engines.copied_snapshot import CopiedSnapshot
from latchfree.topics.errors import InvalidText, UnknownSubscription
from latchfree.topics.pattern import Pattern
from latchfree.topics.subscription import S, Stats, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


class PlainMatcher(ABC, Generic[S]):
    """The base of the matchers in plain Python.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    def __init__(self, dialect: str | Dialect = "amqp") -> None:
        self._dialect = get_dialect(dialect)
        self._lock = new_lock()
        self._live: dict[int, tuple[Subscription[S], Pattern]] = {}
        self._of: dict[S, dict[int, Subscription[S]]] = {}
        self._next = 0
        self._unsubscribes = 0
        self._matches = 0
        self._matched = 0

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._dialect

    @abstractmethod
    def _add(self, subscription: Subscription[S], pattern: Pattern) -> None:
        """Index a subscription."""

    @abstractmethod
    def _drop(self, subscription: Subscription[S], pattern: Pattern) -> None:
        """Forget a subscription that is indexed."""

    @abstractmethod
    def _find(self, words: tuple[str, ...]) -> Iterable[Subscription[S]]:
        """Return the subscriptions that match, one after another if that saves work."""

    def _details(self) -> Mapping[str, float]:
        return {}

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription; see `Matcher.subscribe`."""
        return self.subscribe_many([pattern], subscriber, queue=queue, row=False)[0]

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None, row: bool = True
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber: all of them, or none if a pattern is invalid."""
        rows, texts = flag(row, "row"), many(patterns, "patterns", "subscribe")
        parsed = [parse_pattern(self._dialect, text, queue, at if rows else None) for at, text in enumerate(texts)]
        hashable(subscriber, "subscriber")
        added = []
        with self._lock:
            for pattern in parsed:
                # The number is taken first: the hash of a subscriber is anybody's code, which may subscribe.
                number, self._next = self._next, self._next + 1
                subscription = Subscription(number, pattern.text, subscriber, pattern.group or queue)
                self._add(subscription, pattern)
                self._live[subscription.number] = subscription, pattern
                self._of.setdefault(subscriber, {})[subscription.number] = subscription
                added.append(subscription)
        return added

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; see `Matcher.unsubscribe`."""
        with self._lock:
            live = self._live.get(subscription.number) if isinstance(subscription, Subscription) else None
            if live is None or live[0] is not subscription:
                raise UnknownSubscription(
                    f"{subscription!r} is no subscription of this matcher, or is unsubscribed already; "
                    "pass what subscribe returned, once"
                )
            self._drop(*live)
            del self._live[subscription.number]
            held = self._of[subscription.subscriber]
            del held[subscription.number]
            if not held:
                del self._of[subscription.subscriber]
            self._unsubscribes += 1

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away and return them; the lock is free between them."""
        hashable(subscriber, "subscriber")
        with self._lock:
            gone = list(self._of.get(subscriber, {}).values())
        for subscription in gone:
            with suppress(UnknownSubscription):  # another thread was first
                self.unsubscribe(subscription)
        return gone

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        words = self._dialect.topic(topic)
        with self._lock:
            found = frozenset([subscription.subscriber for subscription in self._find(words)])
            self._matches += 1
            self._matched += len(found)
        return found

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order."""
        words = self._dialect.topic(topic)
        with self._lock:
            return list(self._find(words))

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; see `Matcher.match_many`."""
        found = []
        for at, topic in rows_of(topics):
            try:
                found.append(self.match(topic))
            except InvalidText as error:
                raise error.at_row(at) from None
        return to_lists(found)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        words = self._dialect.topic(topic)
        with self._lock:
            return next(iter(self._find(words)), None) is not None

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""
        words = self._dialect.prefix(prefix)
        with self._lock:
            return iter([each for each, pattern in self._live.values() if pattern.starts_with(words)])

    def snapshot(self) -> CopiedSnapshot[S]:
        """Return the current subscriptions, unchanging; time and memory grow with the number of subscriptions."""
        return CopiedSnapshot(self._dialect, self.subscriptions())

    def freeze(self) -> MaskIndex[S]:
        """Return an unchanging index of the current subscriptions, for bulk matching."""
        return self.snapshot().freeze()

    def stats(self) -> Stats:
        """Return the size of the matcher and the number of calls."""
        with self._lock:
            held = [subscription for subscription, _ in self._live.values()]
            return Stats(
                engine=type(self).__name__,
                dialect=self._dialect.name,
                subscriptions=len(held),
                patterns=len({each.pattern for each in held}),
                subscribers=len(self._of),
                subscribes=self._next,
                unsubscribes=self._unsubscribes,
                matches=self._matches,
                matched=self._matched,
                details=self._details(),
            )

    def __len__(self) -> int:
        return len(self._live)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._dialect.name} with {len(self):,} subscriptions>"
