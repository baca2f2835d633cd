"""`Snapshot`: the subscriptions of a matcher at one moment, and the `Difference` of two snapshots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic

from latchfree.topics.dialects import Dialect
from latchfree.topics.subscription import S, Subscription


@dataclass(frozen=True, slots=True)
class Difference(Generic[S]):
    """The subscriptions that came and went between two snapshots."""

    added: frozenset[Subscription[S]]
    removed: frozenset[Subscription[S]]


class Snapshot(ABC, Generic[S]):
    """The subscriptions of one moment: an unchanging collection that matches topics."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""

    @abstractmethod
    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""

    @abstractmethod
    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns matched a topic at that moment."""

    @abstractmethod
    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; see `Matcher.match_many`."""

    @abstractmethod
    def freeze(self) -> Snapshot[S]:
        """Return a `MaskIndex` of these subscriptions, for bulk matching."""

    @abstractmethod
    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Subscription[S]]:
        return self.subscriptions()

    def __contains__(self, subscription: object) -> bool:
        return isinstance(subscription, Subscription) and any(each == subscription for each in self)

    def pairs(self) -> frozenset[tuple[str, S]]:
        """Return the (pattern, subscriber) pairs, each once."""
        return frozenset((each.pattern, each.subscriber) for each in self)

    def since(self, earlier: Snapshot[S]) -> Difference[S]:
        """Return the subscriptions that came and went since an earlier snapshot of the same matcher."""
        if not isinstance(earlier, Snapshot):
            raise TypeError(f"earlier must be a snapshot of the same matcher, not {type(earlier).__name__}")
        now, then = frozenset(self), frozenset(earlier)
        return Difference(now - then, then - now)
