"""`LimitedMatcher`: a matcher with limits of subscriptions and of subscribers that get one message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from latchfree.arena.forking import new_lock
from latchfree.arguments import hashable, many, whole
from latchfree.topics.errors import LimitReached
from latchfree.topics.matcher import Matcher
from latchfree.topics.routing.around import Around
from latchfree.topics.subscription import S, Subscription


class LimitedMatcher(Around[S]):
    """A matcher with limits; a call that would go beyond one changes nothing.

    Parameters
    ----------
    matcher : Matcher
        What it holds already counts. Every change must go through this one from now on, in one process.
    each : int, optional
        Subscriptions of a subscriber at most.
    in_all : int, optional
        Subscriptions at most.
    fan_out : int, optional
        Subscribers of a topic at most.

    Raises
    ------
    LimitReached
        From a call beyond a limit.
    """

    def __init__(
        self, matcher: Matcher[S], *, each: int | None = None, in_all: int | None = None, fan_out: int | None = None
    ) -> None:
        super().__init__(matcher)
        self._each = None if each is None else whole(each, "each", 0)
        self._in_all = None if in_all is None else whole(in_all, "in_all", 0)
        self._fan_out = None if fan_out is None else whole(fan_out, "fan_out", 0)
        self._lock = new_lock()
        self._held = self._count()

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber: none if there would be too many."""
        wanted = list(many(patterns, "patterns", "subscribe"))
        hashable(subscriber, "subscriber")
        with self._lock:
            if self._each is not None and self._held[subscriber] + len(wanted) > self._each:
                raise LimitReached(f"subscriptions of {subscriber!r}", self._each, "unsubscribe some first")
            if self._in_all is not None and self._held.total() + len(wanted) > self._in_all:
                raise LimitReached("subscriptions in all", self._in_all, "unsubscribe some first")
            try:
                made = super().subscribe_many(wanted, subscriber, queue=queue)
            except BaseException:
                self._held = self._count()
                raise
            self._held[subscriber] += len(made)
            return made

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; see `Matcher.unsubscribe`."""
        with self._lock:
            super().unsubscribe(subscription)
            self._gone([subscription])

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away and return them."""
        hashable(subscriber, "subscriber")
        with self._lock:
            try:
                gone = super().unsubscribe_all(subscriber)
            except BaseException:
                self._held = self._count()
                raise
            self._gone(gone)
            return gone

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic."""
        found = super().match(topic)
        self._refuse(len(found), f"subscribers of {topic!r}")
        return found

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array."""
        found = super().match_many(topics)
        if self._fan_out is not None and len(found):
            sizes = np.diff(found.offsets.to_numpy())
            row = int(sizes.argmax())
            self._refuse(int(sizes[row]), f"subscribers of the topic in row {row}")
        return found

    def _count(self) -> Counter[S]:
        return Counter(subscription.subscriber for subscription in self._matcher.subscriptions())

    def _refuse(self, found: int, what: str) -> None:
        if self._fan_out is not None and found > self._fan_out:
            raise LimitReached(what, self._fan_out, f"there are {found:,}; raise fan_out, or split the pattern")

    def _gone(self, subscriptions: list[Subscription[S]]) -> None:
        for subscription in subscriptions:
            self._held[subscription.subscriber] -= 1
            if not self._held[subscription.subscriber]:
                del self._held[subscription.subscriber]
