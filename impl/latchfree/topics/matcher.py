"""The protocol of all matchers, and what they hand out.

A matcher holds subscriptions: pairs of a pattern and a subscriber, any hashable object. Each is its own: who
subscribes twice and unsubscribes once is still subscribed. Matching a topic gives the subscribers of the patterns that
match it, each once. All members of a queue group match; which one gets a message is decided by `QueueGroups`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from latchfree.topics.dialects import Dialect
from latchfree.topics.snapshot import Snapshot
from latchfree.topics.subscription import Stats, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


@runtime_checkable
class Matcher(Protocol):
    """What every engine can do."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        ...

    def subscribe(self, pattern: str | bytes, subscriber: Hashable, *, queue: str | None = None) -> Subscription:
        """Add a subscription.

        Raises
        ------
        InvalidPattern
            If the pattern breaks a rule of the dialect; nothing changes.
        """
        ...

    def unsubscribe(self, subscription: Subscription) -> None:
        """Take a subscription away.

        Raises
        ------
        UnknownSubscription
            If it is not there (any more); nothing changes.
        """
        ...

    def match(self, topic: str | bytes) -> frozenset[Hashable]:
        """Return the subscribers whose patterns match a topic.

        Raises
        ------
        InvalidTopic
            If the topic breaks a rule of the dialect.
        """
        ...

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; in a row each is there once, in any order.

        Parameters
        ----------
        topics : pyarrow.StringArray, pyarrow.LargeStringArray or pyarrow.ChunkedArray of them

        Raises
        ------
        InvalidTopic
            Naming the row.
        TypeError
            If the subscribers do not fit one Arrow type.
        """
        ...

    def matching(self, topic: str | bytes) -> list[Subscription]:
        """Return the subscriptions that match a topic, in any order."""
        ...

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        ...

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first, wildcards as text."""
        ...

    def snapshot(self) -> Snapshot:
        """Return what is subscribed now, unchanging."""
        ...

    def stats(self) -> Stats:
        """Return what the matcher holds and did."""
        ...

    def freeze(self) -> MaskIndex:
        """Return an unchanging index of what is subscribed now, for bulk matching."""
        ...

    def __len__(self) -> int: ...
