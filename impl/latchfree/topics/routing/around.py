"""`Around`: a matcher around another, to which it passes every call on; subclasses do more in some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic

from latchfree.topics.dialects import Dialect
from latchfree.topics.matcher import Matcher, checked_matcher
from latchfree.topics.pattern import Pattern, parsed
from latchfree.topics.snapshot import Snapshot
from latchfree.topics.subscription import S, Stats, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


class Around(Generic[S]):
    """A matcher around another.

    Parameters
    ----------
    matcher : Matcher
        Every change must go through this one from now on.
    """

    def __init__(self, matcher: Matcher[S]) -> None:
        self._matcher: Matcher[S] = checked_matcher(matcher)

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._matcher.dialect

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription; see `Matcher.subscribe`."""
        return self.subscribe_many([pattern], subscriber, queue=queue)[0]

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber; see `Matcher.subscribe_many`."""
        return self._matcher.subscribe_many(patterns, subscriber, queue=queue)

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; see `Matcher.unsubscribe`."""
        self._matcher.unsubscribe(subscription)

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away and return them."""
        return self._matcher.unsubscribe_all(subscriber)

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        return self._matcher.match(topic)

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; see `Matcher.match_many`."""
        return self._matcher.match_many(topics)

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order."""
        return self._matcher.matching(topic)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        return self._matcher.has_interest(topic)

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""
        return self._matcher.subscriptions(prefix)

    def may_overlap(self, pattern: Pattern) -> Iterable[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and perhaps others."""
        find, pattern = getattr(self._matcher, "may_overlap", None), parsed(pattern)
        return self.subscriptions() if find is None else find(pattern)

    def snapshot(self) -> Snapshot[S]:
        """Return the current subscriptions, unchanging."""
        return self._matcher.snapshot()

    def freeze(self) -> MaskIndex[S]:
        """Return an unchanging index of the current subscriptions, for bulk matching."""
        return self._matcher.freeze()

    def stats(self) -> Stats:
        """Return the stats of the matcher."""
        return self._matcher.stats()

    def __len__(self) -> int:
        return len(self._matcher)
