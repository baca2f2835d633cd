"""`NotifyingMatcher`: tell when interest in a pattern begins, changes and ends.

Example: a bridge asks a remote server for ``plant/#`` when the first local subscription to it comes, and no longer when
the last one has gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

from latchfree.arena.forking import new_lock
from latchfree.topics.matcher import Matcher
from latchfree.topics.routing.around import Around
from latchfree.topics.subscription import S, Subscription


@dataclass(frozen=True, slots=True)
class InterestChange(Generic[S]):
    """A subscription that came or went.

    Parameters
    ----------
    subscription : Subscription
    came : bool
        Whether it came; else it went.
    left : int
        Subscriptions to that pattern afterwards.
    """

    subscription: Subscription[S]
    came: bool
    left: int

    @property
    def first(self) -> bool:
        """Whether interest in the pattern began."""
        return self.came and self.left == 1

    @property
    def last(self) -> bool:
        """Whether interest in the pattern ended."""
        return not self.came and self.left == 0


class NotifyingMatcher(Around[S]):
    """A matcher that tells of each change, in the order of the changes.

    Parameters
    ----------
    matcher : Matcher
        What it holds already counts. Every change must go through this one from now on, in one process.
    tell : callable
        Called with each `InterestChange` after it has taken effect, under the lock of changes; it may match, subscribe
        and unsubscribe itself. If it raises, the change stands, and the error leaves the call.
    """

    def __init__(self, matcher: Matcher[S], tell: Callable[[InterestChange[S]], object]) -> None:
        super().__init__(matcher)
        if not callable(tell):
            raise TypeError(f"tell must be a function of an InterestChange, not {type(tell).__name__}")
        self._tell = tell
        self._lock = new_lock()
        self._held = self._count()

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber; those that were made before an error are told of as well."""
        with self._lock:
            try:
                made = super().subscribe_many(patterns, subscriber, queue=queue)
            except BaseException:
                self._changed(self._not_counted(subscriber), 1)
                raise
            self._changed(made, 1)
            return made

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; see `Matcher.unsubscribe`."""
        with self._lock:
            super().unsubscribe(subscription)
            self._changed([subscription], -1)

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away and return them; one that went before an error is not told of."""
        with self._lock:
            try:
                gone = super().unsubscribe_all(subscriber)
            except BaseException:
                self._held = self._count()
                raise
            self._changed(gone, -1)
            return gone

    def _count(self) -> Counter[str]:
        return Counter(subscription.pattern for subscription in self._matcher.subscriptions())

    def _not_counted(self, subscriber: S) -> list[Subscription[S]]:
        """Return the subscriptions of one subscriber that are more than were counted, pattern by pattern."""
        more = self._count() - self._held
        found = []
        for subscription in self._matcher.subscriptions():
            if more[subscription.pattern] and subscription.subscriber == subscriber:
                more[subscription.pattern] -= 1
                found.append(subscription)
        return found

    def _changed(self, subscriptions: list[Subscription[S]], by: int) -> None:
        changes = []
        for subscription in subscriptions:  # all are counted before any is told: `tell` may raise, or change more
            left = self._held[subscription.pattern] = self._held[subscription.pattern] + by
            if not left:
                del self._held[subscription.pattern]
            changes.append(InterestChange(subscription, by > 0, left))
        for change in changes:
            self._tell(change)
