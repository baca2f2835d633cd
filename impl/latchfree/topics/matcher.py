"""`Matcher`: the protocol of all matchers.

A matcher holds subscriptions: pairs of a pattern and a subscriber, any hashable object. Two subscriptions are two even
if they are equal: a subscriber who subscribes twice and unsubscribes once is still subscribed. Matching a topic gives
the subscribers of the patterns that match the topic, each once. All members of a queue group match; `QueueGroups`
decides which member gets a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from latchfree.topics.dialects import Dialect
from latchfree.topics.snapshot import Snapshot
from latchfree.topics.subscription import S, Stats, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


@runtime_checkable
class Matcher(Protocol[S]):
    """The calls that every engine has."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription.

        Parameters
        ----------
        pattern : str or bytes
            Bytes are UTF-8.
        subscriber : hashable
            What a match returns.
        queue : str, optional
            The queue group of the subscription.

        Returns
        -------
        Subscription
            The handle for `unsubscribe`.

        Raises
        ------
        InvalidPattern
            If the pattern breaks a rule of the dialect; nothing changes.
        """

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away.

        Parameters
        ----------
        subscription : Subscription
            The handle that `subscribe` returned.

        Raises
        ------
        UnknownSubscription
            If the matcher does not have the subscription, or no longer; nothing changes.
        """

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber.

        Raises
        ------
        InvalidPattern
            If a pattern breaks a rule of the dialect; the error names the row, and nothing changes.
        """

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away, one after another, and return them."""

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic.

        Parameters
        ----------
        topic : str or bytes
            Bytes are UTF-8.

        Returns
        -------
        frozenset of hashable

        Raises
        ------
        InvalidTopic
            If the topic breaks a rule of the dialect.
        """

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic; a row has each subscriber once, in any order.

        Parameters
        ----------
        topics : pyarrow.StringArray, pyarrow.LargeStringArray or pyarrow.ChunkedArray of them
            The topics, one a row.

        Returns
        -------
        pyarrow.ListArray
            One list for each topic.

        Raises
        ------
        InvalidTopic
            If a topic breaks a rule of the dialect; the error names the row.
        TypeError
            If the subscribers do not fit one Arrow type.
        """

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order."""

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first, wildcards as text."""

    def snapshot(self) -> Snapshot[S]:
        """Return the current subscriptions, unchanging."""

    def stats(self) -> Stats:
        """Return the size of the matcher, and counts of its calls."""

    def freeze(self) -> MaskIndex[S]:
        """Return an unchanging index of the current subscriptions, for bulk matching."""

    def __len__(self) -> int: ...


def checked_matcher(matcher: Any) -> Any:
    """Return an argument that is a matcher.

    Raises
    ------
    TypeError
        If it is anything else.
    """
    has_calls = all(hasattr(matcher, call) for call in ("matching", "subscriptions"))
    if not (has_calls and isinstance(getattr(matcher, "dialect", None), Dialect)):
        raise TypeError(
            f"matcher must be a matcher of topics, such as ConcurrentTrie or LockedTrie, not {type(matcher).__name__}"
        )
    return matcher
