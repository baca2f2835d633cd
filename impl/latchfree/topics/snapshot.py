"""What a matcher held at one moment, and how two such moments differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from latchfree.topics.dialects import Dialect
from latchfree.topics.matcher import Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


@dataclass(frozen=True, slots=True)
class Difference:
    """The subscriptions that came and went between two snapshots."""

    added: frozenset[Subscription]
    removed: frozenset[Subscription]


@dataclass(frozen=True)
class Snapshot:
    """The subscriptions of one moment: a collection that does not change, matched through a mask index.

    Parameters
    ----------
    dialect : Dialect
    held : tuple of Subscription
    """

    dialect: Dialect
    held: tuple[Subscription, ...]

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._members

    def pairs(self) -> frozenset[tuple[str, Hashable]]:
        """Return the (pattern, subscriber) pairs, each once."""
        return frozenset((each.pattern, each.subscriber) for each in self.held)

    def match(self, topic: str | bytes) -> frozenset[Hashable]:
        """Return the subscribers whose patterns matched a topic at that moment."""
        return self._index.match(topic)

    def freeze(self) -> MaskIndex:
        """Return the index of these subscriptions for bulk matching."""
        return self._index

    def since(self, earlier: Snapshot) -> Difference:
        """Return what came and went since an earlier snapshot of the same matcher."""
        return Difference(self._members - earlier._members, earlier._members - self._members)

    @cached_property
    def _members(self) -> frozenset[Subscription]:
        return frozenset(self.held)

    @cached_property
    def _index(self) -> MaskIndex:
        from latchfree.topics.mask.index import MaskIndex

        return MaskIndex.of(self.held, self.dialect)
